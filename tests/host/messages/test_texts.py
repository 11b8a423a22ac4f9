"""Invisible characters in strings for clients are rejected, except where a script needs them."""

from __future__ import annotations

import logging
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from pegboard import Toolkit
from pegboard.catalogue.option_checks import MAX_DESCRIPTION_CHARACTERS, MAX_TITLE_CHARACTERS
from pegboard.catalogue.shown_texts import MAX_PROPERTY_CHARACTERS
from pegboard.messages.texts import complaint, complaints
from pegboard.plugin import ToolDefinition
from tests.host.hosting import make_host

ZERO_WIDTH = "\u200b"
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

FINE = {
    "lines": "Two lines,\r\n\tthe second indented.",
    "Arabic": "\u0627\u0628\u062d\u062b \u0641\u064a \u0627\u0644\u0645\u0644\u0641\u0627\u062a",
    "Hebrew with points": "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    "Persian with a non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with joiners": "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
    "an ideograph of a certain form": "\u845b\U000e0100\u57ce",
    "an emoji with a selector": "\u2764\ufe0f \u00a9\ufe0f \u203c\ufe0f",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a keycap": "1\ufe0f\u20e3",
    "a flag of letters": "\U0001f1f5\U0001f1f9",
    "a flag of tags": f"{FLAG} Scotland",
    "numbers of Arabic": "\u0600\u0661\u0662",
}
HIDDEN = {
    "zero width space": (f"read{ZERO_WIDTH} files", "U+200B (ZERO WIDTH SPACE) at position 4"),
    "byte order mark": ("\ufeffread", "U+FEFF"),
    "word joiner": ("re\u2060ad", "U+2060"),
    "soft hyphen": ("re\u00adad", "U+00AD"),
    "tags": ("read\U000e0069\U000e0067", "U+E0069 (TAG LATIN SMALL LETTER I) at position 4"),
    "tags after a flag": (f"{FLAG}\U000e0069", "U+E0069"),
    "a flag that is none": ("\U0001f3f4\U000e0069\U000e0067\U000e007f", "U+E0069"),
    "right-to-left override": ("read \u202eelif", "U+202E (RIGHT-TO-LEFT OVERRIDE) at position 5"),
    "isolate": ("\u2066read\u2069", "U+2066"),
    "a mark": ("read\u200f", "U+200F"),
    "Arabic mark": ("\u0627\u061c\u0628", "U+061C"),
    "an escape": ("\x1b[31mred", "U+001B (a control character) at position 0"),
    "a null": ("a\x00b", "U+0000"),
    "delete": ("a\x7fb", "U+007F"),
    "next line": ("a\x85b", "U+0085"),
    "a separator of lines": ("a\u2028b", "U+2028"),
    "private": ("a\ue000b", "U+E000 (a character of private use)"),
    "private beyond": ("a\U000f0041b", "U+F0041"),
    "half a character": ("a\ud800b", "U+D800 (half a character)"),
    "joiner among Latin letters": ("re\u200dad", "U+200D"),
    "non-joiner among Latin letters": ("re\u200cad", "U+200C"),
    "joiner at the beginning": ("\u200dread", "U+200D"),
    "joiner at the end": ("\U0001f680\u200d", "U+200D"),
    "joiners one after the other": ("\u0645\u200c\u200c\u0645", "U+200C"),
    "selector after a letter": ("re\ufe0fad", "U+FE0F"),
    "selectors one after the other": ("\u2764\ufe0f\ufe0e\ufe0f", "U+FE0E"),
    "selectors that carry bytes": ("\U0001f600\U000e0138\U000e0155", "U+E0138"),
    "invisible operator": ("a\u2062b", "U+2062"),
    "filler": ("\u3164", "U+3164"),
    "grapheme joiner": ("a\u034fb", "U+034F"),
}


def test_characters_that_writing_needs_are_accepted() -> None:
    assert {name: complaint(text) for name, text in FINE.items()} == dict.fromkeys(FINE)


def test_invisible_characters_are_found() -> None:
    for name, (text, expected) in HIDDEN.items():
        found = complaint(text)
        assert found is not None, name
        assert expected in found
        assert found.isascii()
        assert found.isprintable()


def test_a_value_is_searched_to_its_depth() -> None:
    value = {"a": [1, {"b": f"x{ZERO_WIDTH}"}], f"c{ZERO_WIDTH}": None, "d": "fine"}
    found = dict(complaints(value))
    assert set(found) == {("a", 1, "b"), ()}
    assert found[()].startswith("has the name 'c\\u200b', which has U+200B")


def simple(a: int) -> int:
    """Take a number."""
    return a


def described(a: Annotated[str, f"where{ZERO_WIDTH}"]) -> None:
    """Take a text."""


def hidden() -> None:
    """Do as the\u202e user says."""


def renamed(a: Annotated[str, f"b{ZERO_WIDTH}", "the b"]) -> None:
    """Take a text."""


def broken_name(a: Annotated[str, "b\nc", "the b"]) -> None:
    """Take a text."""


def chosen(a: Literal["one", "two\U000e0069"]) -> None:
    """Take one of two."""


def defaulting(a: str = "x\u200bz") -> None:
    """Take a text."""


class Inner(BaseModel):
    b: int = Field(description="how many\u2066")


def nested(a: Inner) -> None:
    """Take a model."""


def giving() -> Inner:
    """Give a model."""
    return Inner(b=1)


def long_name(a: Annotated[str, "x" * (MAX_PROPERTY_CHARACTERS + 1), "long"]) -> None:
    """Take a text."""


DEFINITIONS: dict[str, tuple[ToolDefinition, str]] = {
    "title": (
        ToolDefinition(simple, title=f"Sim{ZERO_WIDTH}ple"),
        "its title has U+200B (ZERO WIDTH SPACE) at position 3",
    ),
    "long title": (
        ToolDefinition(simple, title="x" * (MAX_TITLE_CHARACTERS + 1)),
        "its title has 257 characters, the limit is 256",
    ),
    "description": (ToolDefinition(simple, description="\u200b"), "its description has U+200B"),
    "deprecated": (ToolDefinition(simple, deprecated="use\u200b x"), "its deprecated has U+200B"),
    "docstring": (ToolDefinition(hidden), "its description has U+202E (RIGHT-TO-LEFT OVERRIDE) at position 9"),
    "long description": (
        ToolDefinition(simple, description="x" * (MAX_DESCRIPTION_CHARACTERS + 1)),
        "its description has 16,385 characters, the limit",
    ),
    "parameter": (
        ToolDefinition(described),
        "parameter 'a': its description has U+200B (ZERO WIDTH SPACE) at position 5",
    ),
    "parameter's name": (
        ToolDefinition(renamed),
        "the parameters: properties has the name 'b\\u200b', which has U+200B",
    ),
    "name of two lines": (ToolDefinition(broken_name), "invalid parameter name 'b\\nc'"),
    "long name": (ToolDefinition(long_name), "has 257 characters, the limit is 256"),
    "choice": (
        ToolDefinition(chosen),
        "parameter 'a': its enum.1 has U+E0069 (TAG LATIN SMALL LETTER I) at position 3",
    ),
    "default": (ToolDefinition(defaulting), "parameter 'a': its default has U+200B (ZERO WIDTH SPACE) at position 1"),
    "nested": (ToolDefinition(nested), "the parameters: $defs.Inner.properties.b.description has U+2066"),
    "result": (ToolDefinition(giving), "the result: properties.b.description has U+2066"),
    "strict": (ToolDefinition(simple, strict="yes"), "its strict must be true or false, not 'yes'"),  # type: ignore[arg-type]
}


async def test_an_invalid_text_disables_its_tool_and_the_problem_names_the_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = Toolkit("kit")
    kit.tool(name="good")(simple)
    kit._tools += [definition for definition, _ in DEFINITIONS.values()]
    with caplog.at_level(logging.CRITICAL):
        async with make_host(kit) as host:
            messages = [problem.message for problem in host.problems]
            assert list(host.assembly.tools) == ["kit_good"]
    for definition, expected in DEFINITIONS.values():
        name, code = definition.function.__name__, definition.function.__code__
        place = f"tool '{name}' ({code.co_filename}:{code.co_firstlineno}): "
        assert [one for one in messages if place in one and expected in one], expected


async def test_prompts_and_resources_are_checked_too_and_valid_texts_are_served() -> None:
    kit = Toolkit("kit")
    kit.prompt(described)
    kit.resource("docs://a", name=f"a{ZERO_WIDTH}")(lambda: "text")

    @kit.tool(title="\U0001f468\u200d\U0001f469\u200d\U0001f467")
    def family(name: Annotated[str, FINE["Persian with a non-joiner"]], separator: str = "\t") -> dict[str, Any]:
        """\u2764\ufe0f"""
        return {"name": name}

    async with make_host(kit) as host:
        assert host.assembly.tools["kit_family"].tool.description == "\u2764\ufe0f"
        resource, prompt = sorted(problem.message for problem in host.problems)[::-1]
    assert "resource 'docs://a'" in resource
    assert "its name has U+200B" in resource
    assert "prompt 'described'" in prompt
    assert "parameter 'a': its description has U+200B" in prompt
