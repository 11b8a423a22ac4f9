"""A toolkit with content of every kind: results, resources, templates, prompts, completion.

Like `fixture_kit.py` it is copied into a distribution, and imports nothing of the tests.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal

from pegboard import (
    Annotations,
    AudioContent,
    Completion,
    Content,
    Context,
    EmbeddedResource,
    Icon,
    ImageContent,
    NotFoundError,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceLink,
    ResourceResult,
    TextContent,
    ToolAnnotations,
    Toolkit,
    ToolResult,
    tool,
)

CANARY = "canary-7f3a91"
ICON = Icon("https://example.invalid/icon.png", "image/png", ["48x48", "any"], "dark")
ANNOTATIONS = Annotations(["user", "assistant"], 0.5, datetime(2026, 7, 28, 12, tzinfo=UTC))
META = {"com.example/key": {"deep": 1}}

kit = Toolkit("content", prefix=False)

# --- tools


@kit.tool(icons=[ICON], meta=META, title="Text", annotations=ToolAnnotations(read_only=True))
def text() -> TextContent:
    """Give a text of which much is said."""
    return TextContent("said", ANNOTATIONS, META)


@kit.tool
def image() -> ImageContent:
    """Give bytes whose base64 differs between alphabets."""
    return ImageContent(b"\xfb\xff\xfe", "image/png", ANNOTATIONS, META)


@kit.tool
async def audio() -> AudioContent:
    """Give a sound."""
    return AudioContent("+//+", "audio/wav", ANNOTATIONS, META)


@kit.tool
def link() -> ResourceLink:
    """Give a link."""
    return ResourceLink("x://y", "y", "The y", "About y", "text/plain", 5, ANNOTATIONS, [ICON], META)


@kit.tool
def embedded() -> EmbeddedResource:
    """Give a resource with bytes."""
    return EmbeddedResource(ResourceContents("x://y", b"\xfb\xff\xfe", "x/y", META), ANNOTATIONS, META)


@kit.tool
def passed() -> Any:
    """Return an MCP result in the form of the specification."""
    return {
        "content": [
            {"type": "text", "text": "raw", "annotations": {"audience": ["user"], "lastModified": "2026-07-28T12:00Z"}},
            {"type": "resource", "resource": {"uri": "x://y", "blob": "+//+", "_meta": META}},
        ],
        "structuredContent": {"a": 1},
        "isError": True,
        "_meta": META,
    }


@kit.tool
def full(as_list: bool = False) -> Any:
    """Give a value, its content and its `_meta`."""
    value: Any = [1, 2] if as_list else {"a": 1}
    return ToolResult(value, structured=True, content=(ImageContent(b"x", "image/png"),), meta=META)


@kit.tool
def failed() -> ToolResult:
    """Say that it failed, by a value alone."""
    return ToolResult({"why": "tired"}, is_error=True)


@kit.tool
def data() -> dict[str, Any]:
    """Give data that only looks like a result."""
    return {"content": [{"type": "text", "text": "data"}]}


@kit.tool
def mixed() -> list:  # type: ignore[type-arg]  # as authors write it
    """Give content, texts and values together."""
    return ["said", ImageContent(b"\xfb\xff\xfe", "image/png"), {"a": b"\xfb"}, b"\xfb", 5]


@kit.tool
def members(alone: bool = False) -> dict[str, Any]:
    """Give an image among data, or alone."""
    image = ImageContent(b"\xfb\xff\xfe", "image/png")
    return {"image": image} if alone else {"a": b"\xfb\xff\xfe", "image": image}


BROKEN: dict[str, Any] = {
    "audience": TextContent("x", Annotations(audience=["everyone"])),  # type: ignore[list-item]
    "priority": TextContent("x", Annotations(priority=2)),
    "base64": ImageContent("?", "image/png"),
    "mime": ImageContent(b"", "png"),
    "reserved": TextContent("x", meta={"io.modelcontextprotocol/serverInfo": 1}),
    "type": {"content": [{"type": "text", "text": CANARY, "colour": "red"}]},
}


@kit.tool
def broken(kind: str) -> Any:
    """Give content that cannot be sent."""
    return BROKEN[kind]


# --- options


@kit.tool(deprecated="use somewhere instead")
def deprecated_by_option() -> str:
    """Be old."""
    return "old"


@kit.tool
@tool.deprecated("use somewhere instead")
async def deprecated_by_decorator(context: Context) -> str:
    """Be old."""
    context.log.warning("its own words")
    return "old"


# --- resources


@kit.resource(
    "doc://static", name="static", title="Static", annotations=ANNOTATIONS, size=6, icons=[ICON], meta=META,
    mime_type="text/plain",
)  # fmt: skip
def static() -> str:
    """Of one URI."""
    return "static"


@kit.resource("doc://{name}", title="Documents", annotations=ANNOTATIONS, icons=[ICON], meta=META, mime_type="text/x")
def document(name: str, context: Context) -> str:
    """By name."""
    if name == "gone":
        raise NotFoundError("It has been deleted")
    return f"{name} for {context.name}"


@kit.resource("num://{number}")
async def number(number: int) -> dict[str, Any]:
    """By number."""
    return {"number": number}


@kit.resource("file:///{+path}{?line}")
def file(path: str, line: int = 1) -> str:
    """By path."""
    return f"{path}:{line}"


@kit.resource("path://root{/parts*}")
def parts(parts: Annotated[list[str], "the way"] = []) -> list[str]:  # noqa: B006 - never changed
    """By segments."""
    return parts


@kit.resource("many://all")
def many() -> ResourceResult:
    return ResourceResult(
        (ResourceContents("many://all/1", "one", "text/plain", META), ResourceContents("many://all/2", b"2")), META
    )


@kit.resource("nothing://here")
def nothing() -> None:
    """Nothing is here."""


@kit.resource("odd://here")
def odd() -> Any:
    return {CANARY: object()}


# --- prompts


class Tone(Enum):
    """How it is said."""

    KIND = "kind"
    BLUNT = "blunt"


@kit.prompt(title="Review", icons=[ICON], meta=META)
def review(
    code: Annotated[str, "the code"],
    language: str = "python",
    strict: bool = False,
    depth: Annotated[int, "how deep"] = 1,
    tone: Tone = Tone.KIND,
    level: Literal["low", "high"] = "low",
    files: list[str] = [],  # noqa: B006 - never changed
) -> str:
    """Ask for a review."""
    return f"{code}|{language}|{strict}|{depth}|{tone.value}|{level}|{files}"


@kit.prompt
async def messages(context: Context) -> PromptResult:
    """Give messages of every kind."""
    blocks: list[str | Content] = [text(), image(), await audio(), link(), embedded(), "plain"]
    return PromptResult(tuple(PromptMessage(block, "assistant") for block in blocks), f"of {context.name}", META)


@kit.prompt
def raw() -> Any:  # without a docstring: the description of a prompt is optional
    return [{"role": "assistant", "content": {"type": "text", "text": "raw"}}, "plain", ImageContent(b"x", "image/png")]


@kit.prompt
def odd_role() -> Any:
    """Give a role that there is not."""
    return {"role": "system", "content": CANARY}


@kit.completion(review, "language")
def languages(typed: str, code: str | None, level: str = "none") -> list[str]:
    return [f"{typed}|{code}|{level}"]


@kit.completion(review, "code")
async def codes(typed: str, context: Context) -> Completion:
    return Completion([f"{typed}{place}" for place in range(150)], total=1000)


@kit.completion(document, "name")
def names(typed: str) -> list[str]:
    if typed == "fail":
        raise RuntimeError(CANARY)
    return [f"{typed}-{place:03}" for place in range(120)]
