"""What the page on content shows is what happens: its toolkit is served and used."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Completion, Host, ImageContent, PromptResult, ResourceResult, ToolResult
from pegboard.types import Call, Failure, Outcome
from pegboard.uris.matching import Matcher
from tests.docs.pages import Page
from tests.host.hosting import make_host

PAGE = Page("docs/content.md")


async def ask(host: Host, method: str, **params: Any) -> Outcome:
    return await host.dispatch(Call(method, params))


async def test_resources_are_read() -> None:
    async with make_host(PAGE.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        assert host.problems == ()
        listed = await ask(host, "resources/read", uri="notes://all")
        note = await ask(host, "resources/read", uri="notes://note/work/plan")
        missing = await ask(host, "resources/read", uri="notes://note/none")
    assert isinstance(listed, ResourceResult)
    assert listed.contents[0].content == '["shopping","work/plan"]'
    assert isinstance(note, ResourceResult)
    assert note.contents[0][1:3] == ("Ship it.", "text/markdown")
    assert isinstance(missing, Failure)


async def test_a_prompt_is_got_and_its_arguments_completed() -> None:
    async with make_host(PAGE.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        prompt = await ask(host, "prompts/get", name="notes_rewrite", arguments={"title": "shopping", "words": "9"})
        reference = {"type": "ref/prompt", "name": "notes_rewrite"}
        tones = await ask(host, "completion/complete", ref=reference, argument={"name": "tone", "value": "f"})
        titles = [
            await ask(
                host,
                "completion/complete",
                ref=reference,
                argument={"name": "title", "value": ""},
                context={"arguments": chosen},
            )
            for chosen in ({}, {"tone": "friendly"})
        ]
    assert isinstance(prompt, PromptResult)
    assert prompt.messages[1].content == "Rewrite this note in a formal tone, in 9 words at most."
    assert isinstance(tones, Completion)
    assert tones.values == ("friendly", "formal")
    assert [one.values for one in titles if isinstance(one, Completion)] == [("work/plan",), ("shopping", "work/plan")]


async def test_a_tool_gives_content() -> None:
    async with make_host(PAGE.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        outcome = await ask(host, "tools/call", name="notes_sketch", arguments={"title": "shopping"})
    assert isinstance(outcome, ToolResult)
    assert outcome.content is not None
    assert isinstance(outcome.content[1], ImageContent)


@pytest.mark.parametrize(
    "expression", re.findall(r"`(\{[^`]*\})`", PAGE.partition("| in a template")[2].partition("\n\n")[0])
)
def test_what_the_table_says_to_match_can_be_matched(expression: str) -> None:
    before = "x://y?fixed=1" if expression.startswith("{&") else "x://y"
    assert Matcher(before + expression).names


@pytest.mark.parametrize("expression", ["{name}.{ext}", "{name:3}"])
def test_what_the_page_says_to_be_refused_is_refused(expression: str) -> None:
    assert expression in PAGE
    with pytest.raises(ValueError, match=r"name"):
        Matcher(f"x://{expression}")
