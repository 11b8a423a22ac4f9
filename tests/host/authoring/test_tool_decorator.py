"""`@tool` turns a function into an object that is still called as the function, for any toolkit and plugin."""

from __future__ import annotations

import inspect
import re
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import typing_extensions

from pegboard import ToolAnnotations, Toolkit, tool
from pegboard.plugin import PluginContext, ToolDefinition, ToolFunction, hookimpl
from tests.host.hosting import make_host, plugin_of, value

decorator: Any = tool
"""`tool`, for uses that type checkers reject."""


def line_of(one: ToolFunction[..., Any]) -> str:
    return f" ({__file__}:{inspect.unwrap(one.definition.function).__code__.co_firstlineno})"


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(name="minus", title="Subtract", annotations=ToolAnnotations(read_only=True), inline=True)
def subtract(a: int, b: int) -> int:
    """Subtract one number from another."""
    return a - b


@tool()
async def double(a: int) -> int:
    """Double a number."""
    return 2 * a


class Counter:
    def __init__(self, start: int) -> None:
        self.value = start

    @tool
    def count(self, by: int = 1) -> int:
        """Count on."""
        self.value += by
        return self.value

    three = tool(description="Give three.")(partial(abs, -3))


# --- the function


async def test_it_is_called_and_looks_like_the_function() -> None:
    assert (add(1), add(a=1, b=5), subtract(5, 2), await double(4)) == (2, 6, 3, 8)
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add two numbers.", __name__)  # type: ignore[attr-defined]
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 1) -> 'int'"
    assert (repr(add), repr(subtract)) == ("<tool 'add'>", "<tool 'minus'>")

    def function() -> None: ...

    function.definition = "of the function"  # type: ignore[attr-defined]
    assert tool(function).definition == ToolDefinition(function)


def test_a_method_is_called_on_its_object() -> None:
    counter = Counter(5)
    assert (counter.count(), counter.count(by=2), Counter.count(counter)) == (6, 8, 9)
    assert Counter.count is vars(Counter)["count"]
    assert counter.three is Counter.three
    assert counter.three() == 3


# --- toolkits and plugins


async def test_toolkits_take_it_under_any_name() -> None:
    def halve(a: int) -> float:
        """Halve a number."""
        return a / 2

    first, second, counter = Toolkit("first"), Toolkit("second"), Counter(0)
    first.add(add, subtract)
    first.add("plus", add)
    first.add("less", subtract)
    second.add(halve, [ToolDefinition(halve, name="half")], counter.count, (double, add))
    second.add("of_two", partial(halve, 2))
    assert second.tool(name="other", title="Other")(subtract) is subtract
    async with make_host(first, second) as host:
        assert host.problems == ()
        tools = host.assembly.tools
        assert [name for name in tools if name.startswith("first")] == [
            "first_add", "first_less", "first_minus", "first_plus",
        ]  # fmt: skip
        assert [name.removeprefix("second_") for name in tools if name.startswith("second")] == [
            "add", "count", "double", "half", "halve", "of_two", "other",
        ]  # fmt: skip
        assert await value(host, "first_plus", {"a": 1, "b": 2}) == 3
        assert await value(host, "second_count", {"by": 3}) == counter.value == 3
        less, other = tools["first_less"], tools["second_other"]
        assert (less.tool.title, other.tool.title) == ("Subtract", "Other")
        assert less.tool.annotations == other.tool.annotations == ToolAnnotations(read_only=True)
        assert less.function.mode == "inline"
    assert add.definition.name is None


def test_a_decorator_above_another_adds_to_it() -> None:
    both = tool(title="Two")(tool(title="One", description="Does it.")(add))
    assert both.definition == ToolDefinition(add.definition.function, title="Two", description="Does it.")


@pytest.mark.parametrize("second", [add, tool(name="add")(subtract)])
async def test_contested_names_are_reported_with_each_place(second: Any) -> None:
    kit = Toolkit("x")
    kit.add(add, second)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        (problem,) = host.problems
    places = line_of(add) + (line_of(second) if second is not add else "")
    assert "tool 'x_add' is claimed 2 times by toolkit 'x'" in str(problem)
    assert str(problem).endswith(f"neither is served{places}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("plus",), "'plus' is the name of one tool: write kit.add('plus', tool)"),
        (("plus", add, subtract), "'plus' is the name of one tool"),
        (("plus", [add]), "'plus' is the name of one tool"),
        ((add, "plus"), "'plus' is not a tool: pass functions or results of @tool"),
        ((5,), "5 is not a tool"),
        (([add, 5],), "5 is not a tool"),
    ],
)
def test_a_toolkit_refuses_other_objects(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        Toolkit("x").add(*given)


async def test_plugins_contribute_it_from_a_class_a_module_and_while_the_host_runs() -> None:
    module = ModuleType("numbers")

    @hookimpl
    def register_tools(context: PluginContext) -> list[Any]:
        return [one for one in vars(module).values() if isinstance(one, ToolFunction)]

    vars(module).update(register_tools=register_tools, add=add, double=double, other=len)
    async with make_host(plugins={"p": plugin_of(tools=[Counter(2).count]), "numbers": module}) as host:
        assert host.problems == ()
        assert host.catalogue.add(subtract) == ("minus",)
        assert list(host.assembly.tools) == ["add", "count", "double", "minus"]
        assert await value(host, "count") == 3


# --- deprecated tools


def old() -> str:
    """Be old."""
    return "old"


async def test_a_tool_is_deprecated_by_an_option_or_a_decorator() -> None:
    def marked() -> str:
        """Be old."""
        return "old"

    def standard() -> str:
        """Be old."""
        return "old"

    mark, by_standard = tool.deprecated("use new"), typing_extensions.deprecated("use new")
    assert mark(marked) is marked
    plain, above = tool(old), mark(tool(old))
    kit = Toolkit("x")
    given: list[Any] = [plain, above, tool(marked), marked, partial(marked), tool(by_standard(standard))]
    given += [tool(deprecated="use\n  new ")(old), tool(deprecated="use new")(mark(lambda: "old"))]
    for number, one in enumerate(given):
        kit.tool(name=f"t{number}", description="Be old.")(one)
    mark(kit.tool(marked))
    async with make_host(kit) as host:
        assert host.problems == ()
        assert [one.tool.deprecated for one in host.assembly.tools.values()] == ["use new", None] + ["use new"] * 7
    assert above() == marked() == "old"
    assert plain.definition.deprecated is None


@pytest.mark.parametrize("message", ["", "  ", 5])
def test_a_deprecation_without_a_message_disables_the_tool(message: Any) -> None:
    kit = Toolkit("x")
    kit.tool(deprecated=message)(old)
    assembly = make_host(kit).load()
    assert assembly.tools == {}
    assert f'its deprecated must be a message such as "use add instead", not {message!r}' in str(assembly.problems[0])


# --- options


def test_its_options_are_those_of_a_toolkit() -> None:
    options: Any = {
        "requires_secrets": "KEY", "ui": "ui://x/y", "adapters": [], "meta": {"com.example/a": 1}, "enabled": bool,
    }  # fmt: skip
    kit = Toolkit("x")
    kit.tool(**options)(old)
    definition = tool(**options)(old).definition
    assert list(kit.register_tools()) == [definition]
    assert (definition.requires_secrets, definition.extensions) == (("KEY",), {"ui": "ui://x/y"})


@pytest.mark.parametrize(
    ("decorate", "message"),
    [
        (lambda: decorator(desc="Adds."), "there is no option 'desc'; did you mean 'description'?"),
        (lambda: decorator(quite_else=1), "there is no option 'quite_else'\n"),
        (lambda: decorator(function=len), "there is no option 'function'"),
        (lambda: decorator(execution="optional"), "there is no option 'execution': the host does not support tasks"),
        (lambda: decorator("name"), "'name' is not a function: write @tool(name=...)"),
        (lambda: decorator.deprecated(old), 'is not a message: write @tool.deprecated("use add instead")'),
        (
            lambda: decorator.deprecated("use new")(len),
            "cannot be marked as deprecated: use the option deprecated='use new'",
        ),
        (lambda: decorator()(5), "5 is not a function: write @tool above a function"),
        (lambda: Toolkit.tool(old), "create an object, kit = Toolkit(...), and write @kit.tool"),  # type: ignore[call-overload]
        (lambda: Toolkit("x").run(port=1), 'only HTTP has an address: kit.run("http", port=8001)'),
    ],
)
def test_a_misused_decorator_names_the_right_use(decorate: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        decorate()
    assert message in f"{raised.value}\n"
