"""Changed arguments: what clients see, what functions receive, and which changes are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from pegboard import ArgumentChange, Context, Host, Toolkit, ToolResult, tool, transformed
from pegboard.config import HostConfig
from tests.host.hosting import call, failure, make_host, value

SCHEMA = {
    "type": "object",
    "properties": {
        "when": {"type": "string", "maxLength": 10},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["when"],
}


def typed(context: Context, when: date, sizes: Annotated[list[int], Field(max_length=3)] = [7]) -> str:  # noqa: B006
    """Work."""
    sizes.append(0)
    return f"{when!s} {sizes}"


def plain(when: str, sizes: int = 7) -> str:
    """Work."""
    return f"{when} {sizes}"


@tool(input_schema=SCHEMA)
def authored(**arguments: Any) -> str:
    """Work."""
    return f"{arguments['when']} {arguments.get('sizes')}"


@tool(input_schema=SCHEMA)
def whole(arguments: dict[str, Any]) -> str:
    """Work."""
    return authored(**arguments)


def hosting(changes: Any, function: Any = typed, **settings: Any) -> Host:
    kit = Toolkit("x")
    kit.add(transformed(function, name="work", arguments=changes))
    return make_host(kit, **settings)


def properties(host: Host) -> Mapping[str, Any]:
    members: Mapping[str, Any] = host.assembly.tools["x_work"].tool.input_schema["properties"]
    return members


@pytest.mark.parametrize("function", [typed, authored, whole])
async def test_names_and_values_are_changed_for_clients_only(function: Any) -> None:
    changes = {"when": ArgumentChange(name="day", description="a day"), "sizes": ArgumentChange(value=[1, 2])}
    async with hosting(changes, function) as host:
        assert host.problems == ()
        (about,) = properties(host).items()
        assert (about[0], about[1]["description"]) == ("day", "a day")
        expected = "2026-01-02 [1, 2, 0]" if function is typed else "2026-01-02 [1, 2]"
        for _ in range(2):  # a function that changes a value does not change the next call
            assert await value(host, "x_work", {"day": "2026-01-02"}) == expected
        for name in ("when", "sizes"):
            message = (await failure(host, "x_work", {"day": "2026-01-02", name: [3]})).error.message
            assert message == f"Invalid arguments:\n{name} is not a parameter of this tool"
        message = (await failure(host, "x_work", {"day": "x" * 11})).error.message
        assert message.startswith("Invalid arguments:\nday: ")


@pytest.mark.parametrize(("function", "left"), [(typed, "[7, 0]"), (plain, "7"), (authored, "None")])
async def test_a_hidden_argument_has_its_default(function: Any, left: str) -> None:
    async with hosting({"sizes": ArgumentChange(hidden=True)}, function) as host:
        assert [*properties(host)] == ["when"]
        assert await value(host, "x_work", {"when": "2026-01-02"}) == f"2026-01-02 {left}"


async def test_arguments_can_swap_names_and_strings_are_converted() -> None:
    changes = {"when": ArgumentChange(name="sizes"), "sizes": ArgumentChange(name="when")}
    async with hosting(changes, plain) as host:
        assert await value(host, "x_work", {"sizes": "a", "when": 3}) == "a 3"
    async with hosting({"when": ArgumentChange(value="a"), "sizes": ArgumentChange(value="5")}, plain) as host:
        assert await value(host, "x_work") == "a 5"
        assert properties(host) == {}


async def test_changes_apply_to_changed_arguments_and_leave_the_tool_alone() -> None:
    first = transformed(plain, arguments={"when": ArgumentChange(name="day", description="a day")})
    async with hosting({"day": ArgumentChange(name="moment")}, first) as host:
        assert properties(host)["moment"] == {"type": "string", "description": "a day"}
        assert await value(host, "x_work", {"moment": "a"}) == "a 7"
    async with hosting({"day": ArgumentChange(value="b")}, first) as host:
        assert await value(host, "x_work") == "b 7"
    assert first.name is None
    assert [*first.arguments] == ["when"]


WRONG: list[tuple[Any, Callable[..., Any], str]] = [
    ({"wen": ArgumentChange(hidden=True)}, typed, "there is no argument 'wen' to change; did you mean 'when'"),
    ({"when": ArgumentChange(hidden=True)}, typed, "'when' is required, so it cannot be hidden: set its value"),
    ({"when": ArgumentChange(hidden=True)}, authored, "argument 'when' is required"),
    ({"when": ArgumentChange(name="sizes")}, plain, "argument 'when' is renamed to 'sizes', which is taken"),
    ({"when": ArgumentChange(name="sizes")}, authored, "argument 'when' is renamed to 'sizes', which is taken"),
    ({"when": ArgumentChange(value="KEY-123")}, typed, "a fixed value does not fit its argument: when: must be"),
    ({"sizes": ArgumentChange(value="KEY-123")}, plain, "a fixed value does not fit its argument: sizes: must be"),
    ({"sizes": ArgumentChange(value="KEY-123")}, authored, "a fixed value does not fit its argument: sizes: must be"),
    ({"sizes": ArgumentChange(value={object()})}, typed, "a fixed value of an argument is not JSON: use a JSON value"),
    ({"when": ArgumentChange(name="", hidden=True)}, typed, "its name must be a string, not ''"),
    ({"when": ArgumentChange(name="a", hidden=True)}, typed, "hides the argument, so remove its name and description"),
    ({"when": "day"}, typed, "the change of 'when' must be an ArgumentChange, not str"),
    (["when"], typed, "its arguments must be a dict of ArgumentChange by name"),
    (
        {"when": ArgumentChange(name="day")},
        tool(input_schema={**SCHEMA, "anyOf": [{"required": ["sizes"]}]})(authored),
        "its input schema has 'anyOf' at its root, so arguments cannot be changed",
    ),
    ({"a": ArgumentChange(name="b")}, tool(description="Work.")(lambda a: a), "parameter 'a' has no type annotation"),
]


@pytest.mark.parametrize(("changes", "function", "complaint"), WRONG)
def test_an_impossible_change_disables_only_its_tool(changes: Any, function: Any, complaint: str) -> None:
    host = hosting(changes, function)
    assert host.load().tools == {}
    (problem,) = host.problems
    assert complaint in str(problem)
    assert "KEY-123" not in str(problem)


@pytest.mark.parametrize("name", ["when", "sizes"])
def test_a_removed_argument_cannot_be_changed_again(name: str) -> None:
    first = transformed(plain, arguments={"when": ArgumentChange(name="day"), "sizes": ArgumentChange(value=1)})
    with pytest.raises(Exception, match=f"there is no argument '{name}' to change; there are: 'day'"):
        transformed(first, arguments={name: ArgumentChange(hidden=True)})


def test_a_fixed_value_is_not_printed() -> None:
    assert "KEY-123" not in repr(transformed(plain, arguments={"when": ArgumentChange(value="KEY-123")}))


def configured(tools: Any, **settings: Any) -> Host:
    kit = Toolkit("x")
    kit.tool(name="work")(plain)
    return make_host(kit, tools=tools, **settings)


async def test_a_section_changes_a_tool_in_any_spelling() -> None:
    section = {"name": "play", "title": "Play", "tags": ["fun"], "arguments": {"sizes": {"value": 3}}}
    async with configured({"X::Work": section}) as host:
        (made,) = host.assembly.tools.values()
        assert (made.name, made.tool.title, made.tool.tags) == ("x_play", "Play", ("fun",))
        outcome = await call(host, "x_play", {"when": "now"})
        assert isinstance(outcome, ToolResult)
        assert outcome.value == "now 3"
    for pattern in ("x_work", "x_play"):
        assert configured({"X::Work": section}, disabled_tools=[pattern]).load().tools == {}


@pytest.mark.parametrize(
    ("tools", "complaint", "fatal"),
    [
        ({"x_wrk": {}}, 'host.tools.x_wrk: no tool with this name exists; did you mean "x_work"?', False),
        ({"x_work": 3}, "host.tools.x_work: expected a table", True),
        ({"x_work": {"nam": "a"}}, 'host.tools.x_work.nam: unknown key; did you mean "name"?', True),
        ({"x_work": {"arguments": {"sizes": 4}}}, "host.tools.x_work.arguments.sizes: expected a table", True),
        ({"x_work": {"description": {"env": "NO"}}}, 'description: the environment variable "NO" is missing', True),
    ],
)
def test_wrong_sections_are_reported(tools: Any, complaint: str, fatal: bool) -> None:
    host = configured(tools)
    host.load()
    assert [(problem.fatal, complaint in str(problem)) for problem in host.problems] == [(fatal, True)], host.problems


FILE = """[host]
autoload = false
disabled_plugins = ["pegboard:*"]

[host.tools.x_work]
{}
"""


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("title = 'T'\narguments.wen.hidden = true", "7: host.tools.x_work.arguments.wen: there is no argument 'wen'"),
        (
            "arguments = {\nsizes = {value = 'many'},\n}",
            "7: host.tools.x_work.arguments.sizes: a fixed value does not fit",
        ),
        ("name = 'é'", "6: host.tools.x_work.name: its name on the wire, 'x_é', is invalid"),
        ("name = 'rest'", "tool 'x_rest' is claimed 2 times by toolkit 'x'; neither is served ({0}:5)"),
        (
            "arguments = {sizes.name = 'same', when.name = 'same'}",
            "5: host.tools.x_work: argument 'sizes' is renamed to 'same', which is taken",
        ),
        (
            "[host.tools.'X::Work']\n[host.tools.'X.Work']",
            'the same tool is changed by host.tools.x_work ({0}:5) and host.tools."X::Work" ({0}:6): keep one section',
        ),
    ],
)
def test_impossible_changes_name_the_line_of_the_setting(tmp_path: Path, lines: str, complaint: str) -> None:
    file = tmp_path / "hostconfig.toml"
    file.write_text(FILE.format(lines))
    kit = Toolkit("x")
    kit.tool(name="work")(plain)
    kit.tool(name="rest")(typed)
    host = Host(HostConfig.load(file, environ={}, directory=tmp_path), toolkits={"x": kit})
    assert "x_work" not in host.load().tools
    (problem,) = host.problems
    assert complaint.format(file.name) in str(problem)
    assert (problem.level, problem.fatal) == ("error", False)
    assert ("test_changed_tools" in str(problem)) is ("claimed" in str(problem))


def test_a_mistake_of_the_author_is_not_blamed_on_the_section() -> None:
    kit = Toolkit("x")
    kit.tool(name="work", description="Work.")(lambda a: a)
    host = make_host(kit, tools={"x_work": {"title": "T"}})
    assert host.load().tools == {}
    (problem,) = host.problems
    assert str(problem).startswith("toolkit 'x', assemble: tool 'work' (")
