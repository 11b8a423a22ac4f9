"""A wrong value of an option costs what is decorated and nothing else; the message names it, its place, the option."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Toolkit
from tests.host.hosting import make_host
from tools.reference import options

OF_EXTENSIONS = {"ui", "extensions"}
"""What their extensions check, where those are on."""

WRONG: dict[str, Any] = {
    "a number": 5,
    "an object": object(),
    "a list of objects": [object()],
    "a dict of objects": {"com.example/a": object()},
}


def work() -> str:
    """Work."""
    return ""


def decorate(kit: Toolkit, kind: str, name: str, value: Any) -> None:
    said = {name: value}
    if kind == "ResourceOptions":
        kit.resource("x://work", **said)(work)
    elif kind == "PromptOptions":
        kit.prompt(**said)(work)
    else:
        kit.tool(**said)(work)


OPTIONS = [
    pytest.param(kind, one.name, id=f"{kind}-{one.name}")
    for kind in ("ToolOptions", "ResourceOptions", "PromptOptions")
    for one in options(kind)
    if one.name not in OF_EXTENSIONS
]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("kind", "name"), OPTIONS)
async def test_a_wrong_value_costs_what_is_decorated(kind: str, name: str, wrong: str) -> None:
    if wrong == "a number" and name in {"size", "timeout", "max_result"}:
        return  # which is just what they are
    kit = Toolkit("x")
    decorate(kit, kind, name, WRONG[wrong])
    kit.tool(name="sound")(work)
    async with make_host(kit) as host:
        assembly = host.assembly
        assert [*assembly.tools, *assembly.resources, *assembly.prompts] == ["x_sound"]
        (problem,) = host.problems
    what = {"ToolOptions": "tool 'work'", "ResourceOptions": "resource 'x://work'", "PromptOptions": "prompt 'work'"}
    place = f"{what[kind]} ({__file__}:{work.__code__.co_firstlineno}): "
    _, found, complaint = str(problem).partition(place)
    assert found, str(problem)
    told = complaint.replace(" ", "_")  # "its input schema", "it requires the secret"
    assert re.search(name.rstrip("s").removeprefix("requires_"), told)
    assert problem.stage == "assemble"


@pytest.mark.parametrize("name", ["requires_secrets", "scopes"])
@pytest.mark.parametrize("given", ["ONE", ["ONE"], ("ONE",), {"ONE"}])
def test_one_name_is_a_list_of_one(name: str, given: Any) -> None:
    kit = Toolkit("x")
    kit.tool(**{name: given})(work)
    (definition,) = kit.register_tools()
    assert getattr(definition, name) == ("ONE",)


@pytest.mark.parametrize("ui", [5, "ui://x/y"])
async def test_an_interface_beside_wrong_extensions_costs_the_tool(ui: Any) -> None:
    kit = Toolkit("x")
    wrong: Any = 5
    kit.tool(ui=ui, extensions=wrong)(work)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        (problem,) = host.problems
        assert "its extensions are no dict" in str(problem)


async def test_what_a_model_reads_of_a_deprecation_is_seen_by_people() -> None:
    kit = Toolkit("x")
    kit.tool(deprecated="use \u202enew")(work)
    kit.tool(name="long", deprecated="x" * 257)(work)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        told = "\n".join(map(str, host.problems))
    assert "its deprecated " in told
    assert "its deprecated has 257 characters, the limit is 256" in told
