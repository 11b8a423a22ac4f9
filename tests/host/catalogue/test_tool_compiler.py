"""The fields of a tool's record that other protocols than MCP need."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from pegboard import Toolkit
from pegboard.plugin import PluginError
from pegboard.testing import connect
from pegboard.types import ToolRequirements
from pegboard_plugins.auth_providers import GitHub
from tests.host.hosting import make_host


def text() -> str:
    return ""


def described() -> Annotated[str, "the text"]:
    return ""


def nothing() -> None: ...


def anything() -> Any: ...


def unsaid():  # type: ignore[no-untyped-def]  # noqa: ANN201 - the case under test
    ...


def test_the_kind_of_result_of_a_tool_without_output_schema() -> None:
    kit = Toolkit("kit")
    for function in (text, described, nothing, anything, unsaid):
        kit.tool(description="Do.")(function)
    found = {bound.tool.own_name: bound.tool for bound in make_host(kit).load().tools.values()}
    expected = {"text": "text", "described": "text", "nothing": "nothing", "anything": "anything", "unsaid": "anything"}
    assert {name: tool.gives for name, tool in found.items()} == expected
    assert {tool.output_schema for tool in found.values()} == {None}


async def test_its_own_name_and_its_requirements() -> None:
    kit = Toolkit("some-kit")
    required = GitHub(scopes=["repo"])
    options: Any = {"requires_auth": required, "requires_secrets": ["A", "a", "B"], "scopes": ["x"]}
    kit.tool(name="Do It", description="Do.", **options)(text)
    kit.tool(description="Do.")(nothing)
    async with connect(kit, secrets={"A": "1", "B": "2"}) as client:
        tools = {name: bound.tool for name, bound in client.host.assembly.tools.items()}
    assert {name: (tool.own_name, tool.requires) for name, tool in tools.items()} == {
        "some_kit_do_it": ("Do It", ToolRequirements(required, ("x",), ("A", "B"))),
        "some_kit_nothing": ("nothing", None),
    }


@pytest.mark.parametrize(
    ("given", "shown"), [(None, None), (" ", None), ("  Café:\n    all of it.\n", "Café:\nall of it.")]
)
def test_the_description_of_the_toolkit(given: str | None, shown: str | None) -> None:
    kit = Toolkit("kit", description=given)
    kit.tool(description="Do.")(text)
    assert make_host(kit).load().tools["kit_text"].tool.owner_description == shown


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (5, "its description must be text, not int"),
        ("a\x1b[31m", r"its description has U\+001B .* at position 1, which is invisible; remove it"),
        ("e\u200b", r"its description has U\+200B \(ZERO WIDTH SPACE\) at position 1"),
    ],
)
async def test_an_invalid_description_of_a_toolkit_is_refused(given: Any, complaint: str) -> None:
    with pytest.raises(PluginError, match=complaint):
        await make_host(Toolkit("kit", description=given)).start()
