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


async def test_resources_are_read_and_a_tool_returns_an_image() -> None:
    async with make_host(PAGE.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        assert host.problems == ()
        listed = await ask(host, "resources/read", uri="notes://all")
        note = await ask(host, "resources/read", uri="notes://note/work/plan")
        missing = await ask(host, "resources/read", uri="notes://note/none")
        sketch = await ask(host, "tools/call", name="notes_sketch", arguments={"title": "shopping"})
    assert isinstance(listed, ResourceResult)
    assert listed.contents[0].content == '["shopping","work/plan"]'
    assert isinstance(note, ResourceResult)
    assert note.contents[0][1:3] == ("Ship it.", "text/markdown")
    assert isinstance(missing, Failure)
    assert isinstance(sketch, ToolResult)
    assert sketch.content is not None
    assert isinstance(sketch.content[1], ImageContent)


async def test_a_prompt_and_its_completions() -> None:
    async with make_host(PAGE.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        prompt = await ask(host, "prompts/get", name="notes_rewrite", arguments={"title": "shopping", "words": "9"})
        reference = {"type": "ref/prompt", "name": "notes_rewrite"}
        values = []
        for name, value, chosen in (("tone", "f", {}), ("title", "", {}), ("title", "", {"tone": "friendly"})):
            more = {"argument": {"name": name, "value": value}, "context": {"arguments": chosen}}
            completion = await ask(host, "completion/complete", ref=reference, **more)
            assert isinstance(completion, Completion)
            values.append(completion.values)
    assert isinstance(prompt, PromptResult)
    assert prompt.messages[1].content == "Rewrite this note in a formal tone, in 9 words at most."
    assert values == [("friendly", "formal"), ("work/plan",), ("shopping", "work/plan")]


def test_the_template_expressions_of_the_page_match_and_the_others_are_rejected() -> None:
    for expression in re.findall(r"`(\{[^`]*\})`", PAGE.partition("| in a template")[2].partition("\n\n")[0]):
        assert Matcher(("x://y?fixed=1" if expression.startswith("{&") else "x://y") + expression).names
    for expression in ("{name}.{ext}", "{name:3}"):
        assert expression in PAGE
        with pytest.raises(ValueError, match=r"name"):
            Matcher(f"x://{expression}")
