"""An invalid option disables only its definition. The message names the definition, its place and the option."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Toolkit
from tests.host.hosting import make_host
from tools.reference import options

OF_EXTENSIONS = {"ui", "extensions"}
"""The options that extensions check."""

INVALID: dict[str, Any] = {
    "a number": 5,
    "an object": object(),
    "a list of objects": [object()],
    "a dict of objects": {"com.example/a": object()},
}
NUMBERS = {"size", "timeout", "max_result"}


def work() -> str:
    """Work."""
    return ""


def decorate(kit: Toolkit, kind: str, **option: Any) -> None:
    if kind == "ResourceOptions":
        kit.resource("x://work", **option)(work)
    else:
        decorator: Any = kit.tool if kind == "ToolOptions" else kit.prompt
        decorator(**option)(work)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, one.name)
        for kind in ("ToolOptions", "ResourceOptions", "PromptOptions")
        for one in options(kind)
        if one.name not in OF_EXTENSIONS
    ],
)
async def test_an_invalid_value_disables_only_its_definition(kind: str, name: str) -> None:
    labels = {"ToolOptions": "tool 'work'", "ResourceOptions": "resource 'x://work'", "PromptOptions": "prompt 'work'"}
    for title, value in INVALID.items():
        if title == "a number" and name in NUMBERS:
            continue
        kit = Toolkit("x")
        decorate(kit, kind, **{name: value})
        kit.tool(name="sound")(work)
        assembly = make_host(kit).load()
        assert [*assembly.tools, *assembly.resources, *assembly.prompts] == ["x_sound"]
        (problem,) = assembly.problems
        place = f"{labels[kind]} ({__file__}:{work.__code__.co_firstlineno}): "
        _, found, complaint = str(problem).partition(place)
        assert found, str(problem)
        assert re.search(name.rstrip("s").removeprefix("requires_"), complaint.replace(" ", "_"))
        assert problem.stage == "assemble"


@pytest.mark.parametrize("name", ["requires_secrets", "scopes"])
@pytest.mark.parametrize("given", ["ONE", ["ONE"], {"ONE"}])
def test_a_single_name_is_a_list_of_one(name: str, given: Any) -> None:
    kit = Toolkit("x")
    kit.tool(**{name: given})(work)
    (definition,) = kit.register_tools()
    assert getattr(definition, name) == ("ONE",)


async def test_invalid_extensions_and_hidden_characters_are_refused() -> None:
    kit = Toolkit("x")
    wrong: Any = 5
    kit.tool(name="a", ui="ui://x/y", extensions=wrong)(work)
    kit.tool(name="b", deprecated="use \u202enew")(work)
    kit.tool(name="c", deprecated="x" * 257)(work)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        messages = [str(problem) for problem in host.problems]
    assert len(messages) == 3
    assert "its extensions " in messages[0]
    assert "its deprecated has U+202E" in messages[1]
    assert "its deprecated has 257 characters, the limit is 256" in messages[2]
