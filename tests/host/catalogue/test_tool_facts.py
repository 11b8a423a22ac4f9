"""What the record of a tool says beyond what MCP clients see, for other protocols."""

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


def unsaid():  # type: ignore[no-untyped-def]  # noqa: ANN201 - what is tried
    ...


@pytest.mark.parametrize(
    ("function", "gives"),
    [(text, "text"), (described, "text"), (nothing, "nothing"), (anything, "anything"), (unsaid, "anything")],
)
def test_what_a_tool_gives_without_a_schema(function: Any, gives: str) -> None:
    kit = Toolkit("kit")
    kit.tool(description="Do.")(function)
    host = make_host(kit)
    (bound,) = host.load().tools.values()
    assert (bound.tool.gives, bound.tool.output_schema) == (gives, None)


async def test_its_own_name_and_what_it_requires() -> None:
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
    ("said", "told"),
    [
        (None, None),
        ("Files, and more.", "Files, and more."),
        ("  Café:\n    all of it.\n", "Café:\nall of it."),
        (" ", None),
    ],
)
def test_a_tool_has_what_its_toolkit_says_of_the_whole(said: str | None, told: str | None) -> None:
    kit = Toolkit("kit", description=said)
    kit.tool(description="Do.")(text)
    host = make_host(kit)
    assert host.load().tools["kit_text"].tool.owner_description == told


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (5, "its description must be text, not int"),
        ("a\x1b[31m", r"its description has U\+001B .* at position 1, which is not seen; remove it"),
        ("e\u200b", r"its description has U\+200B \(ZERO WIDTH SPACE\) at position 1"),
    ],
)
async def test_a_toolkit_that_says_what_nobody_sees_is_refused(said: Any, complaint: str) -> None:
    with pytest.raises(PluginError, match=complaint):
        await make_host(Toolkit("kit", description=said)).start()
