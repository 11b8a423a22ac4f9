"""More tools for the worker protocol: errors, features of the context, and types."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel

from pegboard import (
    AudioContent,
    Context,
    EmbeddedResource,
    FatalToolError,
    ImageContent,
    ResourceContents,
    ResourceError,
    ResourceLink,
    TextContent,
    ToolExecutionError,
    Toolkit,
    ToolMetadata,
    ToolResult,
    ToolUi,
)
from pegboard.context.log import Level
from pegboard.types import Elicit
from pegboard_plugins.auth.auth_providers import Google

kit = Toolkit("more_kit", version="v2.0.0-RC1")


class Named(BaseModel):
    name: str


@kit.tool
def number(kind: Literal["nan", "large", "half"]) -> float | int:
    """Give a number."""
    return {"nan": float("nan"), "large": 2**70, "half": 0.5}[kind]


@kit.tool
def text(of: str) -> str:
    """Return something else than the declared string."""
    value: Any = {"list": ["a", 1], "nothing": None}[of]
    return value  # type: ignore[no-any-return]  # that is the point


@kit.tool
def content(of: str) -> Any:
    """Give content."""
    if of == "texts":
        return [TextContent("a"), TextContent("b")]
    return [
        ImageContent(b"\x00\xff", "image/png"),
        ResourceLink("more://list", "listed", size=4),
        EmbeddedResource(ResourceContents("more://page", "p", "text/plain")),
        AudioContent("AP8=", "audio/wav"),
    ]


@kit.tool
def failed() -> ToolResult:
    """Return a result that is an error."""
    return ToolResult(content=(TextContent("it is closed"), TextContent("come tomorrow")), is_error=True)


@kit.tool(requires_auth=Google(scopes=["a"]), requires_secrets=["One", "ONE", "two"], requires_metadata=["Team"])
def everything(context: Context) -> dict[str, Any]:
    """Return the context of the request."""
    authorization = context.authorization
    return {
        "token": context.get_auth_token_or_empty(),
        "user_info": dict(authorization.user_info) if authorization.token else None,
        "secrets": [context.get_secret("oNe"), context.get_secret("TWO")],
        "metadata": context.get_metadata("tEaM"),
        "user": context.user_id,
        "request": context.request_id,
        "session": context.session_id,
        "client": context.client.name,
        "caller": context.caller.client_id,
        "host": None if context.headers is None else context.headers.get("host"),
    }


@kit.tool(requires_secrets=["One"])
def greedy(context: Context) -> str:
    """Request a secret that it does not declare."""
    return context.get_secret("two")


@kit.tool
async def context_feature(name: str, context: Context) -> Any:
    """Use one feature of the context."""
    features: dict[str, Any] = {
        "ask": lambda: context.ask(who=Elicit("Who?", str)),
        "create_message": lambda: context.sampling.create_message("Hi"),
        "elicit": lambda: context.ui.elicit("Who?", str),
        "elicit_url": lambda: context.ui.elicit_url("Open it", "https://x.example"),
        "list_roots": context.resources.list_roots,
        "send_request": lambda: context.send_request("ping"),
        "call": lambda: context.tools.call("more_kit_number", {"kind": "half"}),
        "read": lambda: context.resources.read("more://list"),
        "prompt": lambda: context.prompts.get("more_kit_greet"),
        "once": lambda: context.once("step", lambda: 5),
    }
    return str(await features[name]())


@kit.tool
def talk_much(context: Context) -> str:
    """Say something at every level."""
    for level in get_args(Level):
        context.log.log(level, level)
    context.log.info("with more", a=1)
    context.progress.report(1, total=3)
    context.progress.report(2, total=3, message="two thirds")
    return "said"


@kit.tool
async def wait(name: str, context: Context) -> str:
    """Wait without end."""
    try:
        context.log.warning([name, "has begun"])
        await asyncio.Event().wait()
    finally:
        context.log.warning([name, "has ended"])
    return "never"


@kit.tool(ui=ToolUi("ui://more/face"))
def shown() -> str:
    """Have an interface."""
    return "shown"


@kit.tool(metadata=ToolMetadata(extras={"a": [1]}))
def odd_metadata() -> None:
    """Have little metadata."""


@kit.tool(requires_secrets=["VAULT_KEY"], requires_auth=Google(scopes=["a"]))
def leak(how: str, context: Context) -> str:
    """Leak its context."""
    text = f"{context.get_secret('vault_key')} {context.get_auth_token_or_empty()} canary-in-text"
    headers = "" if context.headers is None else str(context.headers.getall("Authorization", ()))
    if how == "raise":
        raise ValueError(f"{text} {headers} {Path(__file__)} https://errors.pydantic.dev/2/v/x")
    if how == "cause":
        raise FatalToolError("It failed.", f"{text} {headers}") from KeyError(text)
    if how == "typed":
        raise ToolExecutionError(f"It failed: {text}", extra={"inner": [text]})
    if how == "invalid":
        Named.model_validate([text])
    if how == "exit":
        raise SystemExit(text)
    print(text)
    context.log.warning(text)
    context.progress.report(1, message=text)
    return "said"


@kit.prompt
def greet() -> str:
    """Greet."""
    return "Hello."


@kit.resource("ui://more/face", mime_type="text/html;profile=mcp-app")
def face() -> str:
    """A face."""
    return "<p>"


@kit.resource("more://list", title="List", size=4, meta={"com.example/a": 1})
def listed() -> str:
    """Listed with all it has."""
    return "list"


@kit.resource("more://template/{name}")
def by_name(name: str) -> str:
    """One of many."""
    if name == "missing":
        raise ResourceError("There is nothing of that name.")
    if name == "broken":
        raise KeyError("canary-7f3a91")
    return name


@kit.tool
def remember(context: Context) -> None:
    """Keep a value in the session."""
    context.session.set("value", 1)
