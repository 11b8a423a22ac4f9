"""Invisible characters in strings for clients are rejected, except where a script needs them."""

from __future__ import annotations

import logging
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from pegboard import Toolkit
from pegboard.messages.texts import complaint, text_problems
from pegboard.plugin import ToolDefinition
from tests.host.hosting import make_host

ZERO_WIDTH = "\u200b"
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

FINE = {
    "lines": "Two lines,\r\n\tthe second indented.",
    "Arabic": "\u0627\u0628\u062d\u062b \u0641\u064a \u0627\u0644\u0645\u0644\u0641\u0627\u062a",
    "Persian with a non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with joiners": "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
    "an emoji with a selector": "\u2764\ufe0f \u00a9\ufe0f \u203c\ufe0f",
    "a flag of tags": f"{FLAG} Scotland",
}
HIDDEN = {
    "zero width space": (f"read{ZERO_WIDTH} files", "U+200B (ZERO WIDTH SPACE) at position 4"),
    "tags": ("read\U000e0069\U000e0067", "U+E0069 (TAG LATIN SMALL LETTER I) at position 4"),
    "tags after a flag": (f"{FLAG}\U000e0069", "U+E0069"),
    "right-to-left override": ("read \u202eelif", "U+202E (RIGHT-TO-LEFT OVERRIDE) at position 5"),
    "an escape": ("\x1b[31mred", "U+001B (a control character) at position 0"),
    "a separator of lines": ("a\u2028b", "U+2028"),
    "private": ("a\ue000b", "U+E000 (a character of private use)"),
    "half a character": ("a\ud800b", "U+D800 (half a character)"),
    "joiner among Latin letters": ("re\u200dad", "U+200D"),
    "joiner at the beginning": ("\u200dread", "U+200D"),
    "joiners one after the other": ("\u0645\u200c\u200c\u0645", "U+200C"),
    "selector after a letter": ("re\ufe0fad", "U+FE0F"),
    "selectors that carry bytes": ("\U0001f600\U000e0138\U000e0155", "U+E0138"),
    "filler": ("\u3164", "U+3164"),
    "grapheme joiner": ("a\u034fb", "U+034F"),
}


def test_characters_that_writing_needs_are_accepted() -> None:
    assert {name: complaint(text) for name, text in FINE.items()} == dict.fromkeys(FINE)


def test_invisible_characters_are_found() -> None:
    for name, (text, expected) in HIDDEN.items():
        problem = complaint(text)
        assert problem is not None, name
        assert expected in problem
        assert problem.isascii()
        assert problem.isprintable()


def test_a_value_is_searched_to_its_depth() -> None:
    value = {"a": [1, {"b": f"x{ZERO_WIDTH}"}], f"c{ZERO_WIDTH}": None, "d": "fine"}
    problems = dict(text_problems(value))
    assert set(problems) == {("a", 1, "b"), ()}
    assert problems[()].startswith("has the name 'c\\u200b', which has U+200B")


def simple(a: int) -> int:
    """Take a number."""
    return a


def described(a: Annotated[str, f"where{ZERO_WIDTH}"]) -> None:
    """Take a text."""


def broken_name(a: Annotated[str, "b\nc", "the b"]) -> None:
    """Take a text."""


def chosen(a: Literal["one", "two\U000e0069"]) -> None:
    """Take one of two."""


class Inner(BaseModel):
    b: int = Field(description="how many\u2066")


def nested(a: Inner) -> None:
    """Take a model."""


def long_name(a: Annotated[str, "x" * 257, "long"]) -> None:
    """Take a text."""


DEFINITIONS: list[tuple[ToolDefinition, str]] = [
    (ToolDefinition(simple, title="Sim\u200bple"), "its title has U+200B (ZERO WIDTH SPACE) at position 3"),
    (ToolDefinition(simple, title="x" * 257), "its title has 257 characters, the limit is 256"),
    (ToolDefinition(simple, description="x" * 16_385), "its description has 16,385 characters, the limit"),
    (ToolDefinition(simple, deprecated="use\u200b x"), "its deprecated has U+200B"),
    (ToolDefinition(described), "parameter 'a': its description has U+200B (ZERO WIDTH SPACE) at position 5"),
    (ToolDefinition(broken_name), "invalid parameter name 'b\\nc'"),
    (ToolDefinition(long_name), "has 257 characters, the limit is 256"),
    (ToolDefinition(chosen), "parameter 'a': its enum.1 has U+E0069 (TAG LATIN SMALL LETTER I) at position 3"),
    (ToolDefinition(nested), "parameter 'a': its properties.b.description has U+2066"),
]


async def test_invalid_text_disables_its_tool_and_the_problem_names_the_place(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("kit")
    kit.tool(name="good")(simple)
    kit._tools += [definition for definition, _ in DEFINITIONS]
    with caplog.at_level(logging.CRITICAL):
        async with make_host(kit) as host:
            messages = [problem.message for problem in host.problems]
            assert list(host.assembly.tools) == ["kit_good"]
    for definition, expected in DEFINITIONS:
        name, code = definition.function.__name__, definition.function.__code__
        place = f"tool '{name}' ({code.co_filename}:{code.co_firstlineno}): "
        assert [message for message in messages if place in message and expected in message], expected


async def test_prompts_and_resources_are_checked_too_and_valid_texts_are_served() -> None:
    kit = Toolkit("kit")
    kit.prompt(described)
    kit.resource("docs://a", name=f"a{ZERO_WIDTH}")(lambda: "text")

    kit.tool(name="heart", description="\u2764\ufe0f")(lambda: "")
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["kit_heart"]
        prompt, resource = sorted(problem.message for problem in host.problems)
    assert "resource 'docs://a'" in resource
    assert "its name has U+200B" in resource
    assert "prompt 'described'" in prompt
    assert "parameter 'a': its description has U+200B" in prompt
