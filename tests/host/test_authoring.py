"""`@tool` makes an object of a function that still is that function, and that any toolkit and plugin can take."""

from __future__ import annotations

import inspect
import re
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from pegboard import Context, Host, ToolAnnotations, Toolkit, tool
from pegboard.plugin import PluginContext, ToolDefinition, ToolFunction, hookimpl
from tests.host.hosting import make_host, plugin_of, value

WRONG: Any = 5
decorator: Any = tool
"""`tool`, for what type checkers refuse."""


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


# --- the function it still is


async def test_it_is_called_as_the_function() -> None:
    assert add(1) == 2
    assert add(a=1, b=5) == 6
    assert subtract(5, 2) == 3
    assert await double(4) == 8


def test_it_looks_like_the_function() -> None:
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add two numbers.", __name__)  # type: ignore[attr-defined]
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 1) -> 'int'"
    assert repr(add) == "<tool 'add'>"
    assert repr(subtract) == "<tool 'minus'>"


def test_a_method_is_called_on_its_object() -> None:
    counter = Counter(5)
    assert counter.count() == 6
    assert counter.count(by=2) == 8
    assert Counter.count is vars(Counter)["count"]
    assert counter.three is Counter.three
    assert counter.three() == 3
    assert Counter.count(counter) == 9


def test_what_it_keeps_is_not_hidden_by_an_attribute_of_the_function() -> None:
    def function() -> None: ...

    function.definition = "of the function"  # type: ignore[attr-defined]
    assert tool(function).definition == ToolDefinition(function)


# --- toolkits that take it


async def served(*kits: Toolkit) -> list[str]:
    async with make_host(*kits) as host:
        assert host.problems == ()
        return list(host.assembly.tools)


async def test_a_toolkit_takes_it_under_its_own_name_and_under_others() -> None:
    kit = Toolkit("x")
    kit.add(add)
    kit.add("plus", add)
    kit.add("less", subtract)
    kit.add(subtract)
    async with make_host(kit) as host:
        assert host.problems == ()
        assert list(host.assembly.tools) == ["x_add", "x_less", "x_minus", "x_plus"]
        assert await value(host, "x_plus", {"a": 1, "b": 2}) == 3
        assert await value(host, "x_less", {"a": 1, "b": 2}) == -1
        less = host.assembly.tools["x_less"]
        assert (less.tool.title, less.tool.annotations) == ("Subtract", ToolAnnotations(read_only=True))
        assert less.function.mode == "inline"
    assert add.definition.name is None


async def test_several_toolkits_take_the_same_one() -> None:
    first, second = Toolkit("first"), Toolkit("second")
    first.add(add, double)
    second.add([subtract, add])
    assert await served(first, second) == ["first_add", "first_double", "second_add", "second_minus"]


async def test_a_toolkit_takes_functions_methods_and_definitions() -> None:
    def halve(a: int) -> float:
        """Halve a number."""
        return a / 2

    def triple(a: int) -> int:
        """Triple a number."""
        return 3 * a

    kit, counter = Toolkit("x"), Counter(0)
    kit.add(halve, [ToolDefinition(triple, name="thrice")], counter.count, iter([double]))
    kit.add("of_two", partial(halve, 2))
    async with make_host(kit) as host:
        assert sorted(host.assembly.tools) == ["x_count", "x_double", "x_halve", "x_of_two", "x_thrice"]
        assert await value(host, "x_count", {"by": 3}) == 3
    assert counter.value == 3


async def test_a_decorator_of_a_toolkit_says_more_of_it() -> None:
    kit = Toolkit("x")
    assert kit.tool(subtract) is subtract
    assert kit.tool(name="other", title="Other")(subtract) is subtract
    async with make_host(kit) as host:
        titles = {name: one.tool.title for name, one in host.assembly.tools.items()}
        assert titles == {"x_minus": "Subtract", "x_other": "Other"}
        assert host.assembly.tools["x_other"].tool.annotations == ToolAnnotations(read_only=True)


async def test_one_decorator_above_another_adds_to_it() -> None:
    both = tool(title="Two")(tool(title="One", description="Does it.")(add))
    assert both.definition == ToolDefinition(add.definition.function, title="Two", description="Does it.")


async def test_two_of_one_name_are_served_by_neither() -> None:
    kit = Toolkit("x")
    kit.add(add, add)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        (problem,) = host.problems
        assert "tool 'x_add' is claimed 2 times by toolkit 'x'" in str(problem)
        assert str(problem).endswith(f"neither is served{line_of(add)}")  # once, as it is one function


async def test_of_two_of_one_name_it_is_told_where_each_stands() -> None:
    kit = Toolkit("x")
    kit.add(tool(name="same")(add), tool(name="same")(subtract))
    async with make_host(kit) as host:
        (problem,) = host.problems
    assert str(problem).endswith(f"neither is served{line_of(add)}{line_of(subtract)}")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("plus",), "'plus' is the name of one tool: write kit.add('plus', tool)"),
        (("plus", add, subtract), "'plus' is the name of one tool"),
        (("plus", [add]), "'plus' is the name of one tool"),
        ((add, "plus"), "'plus' is no tool: give functions, or what @tool makes of them"),
        ((5,), "5 is no tool"),
        (([add, 5],), "5 is no tool"),
        ((None,), "None is no tool"),
    ],
)
def test_what_is_no_tool_is_noticed_where_it_is_added(given: Any, told: str) -> None:
    with pytest.raises(TypeError, match=re.escape(told)):
        Toolkit("x").add(*given)


# --- plugins that take it


async def test_a_plugin_contributes_it() -> None:
    plugin = plugin_of(tools=[add, subtract, Counter(2).count])
    async with make_host(plugins={"p": plugin}) as host:
        assert host.problems == ()
        assert list(host.assembly.tools) == ["add", "count", "minus"]
        assert await value(host, "count") == 3


async def test_a_module_contributes_its_own() -> None:
    module = ModuleType("numbers")

    @hookimpl
    def register_tools(context: PluginContext) -> list[Any]:
        return [one for one in vars(module).values() if isinstance(one, ToolFunction)]

    vars(module).update(register_tools=register_tools, add=add, double=double, other=len)
    async with make_host(plugins={"numbers": module}) as host:
        assert host.problems == ()
        assert list(host.assembly.tools) == ["add", "double"]


async def test_it_comes_while_the_host_runs() -> None:
    async with make_host() as host:
        assert host.catalogue.add(subtract) == ("minus",)
        assert host.assembly.tools["minus"].tool.title == "Subtract"


# --- what is deprecated


def old() -> str:
    """Be old."""
    return "old"


async def deprecated(*given: Any) -> list[str | None]:
    """What the host knows of each."""
    kit = Toolkit("x")
    for number, one in enumerate(given):
        kit.add(f"t{number}", one)
    async with make_host(kit) as host:
        assert host.problems == ()
        return [one.tool.deprecated for one in host.assembly.tools.values()]


async def test_a_tool_is_deprecated_by_an_option_or_a_decorator_in_any_order() -> None:
    def marked() -> str:
        """Be old."""
        return "old"

    mark = tool.deprecated("use new")
    assert mark(marked) is marked
    plain, above = tool(old), mark(tool(old))
    given = [plain, above, tool(marked), marked, partial(marked), tool(deprecated="use\n  new ")(old)]
    assert await deprecated(*given) == [None] + ["use new"] * 5
    assert above() == marked() == "old"
    assert plain.definition.deprecated is None


async def test_a_decorator_above_that_of_a_toolkit_serves_too() -> None:
    kit = Toolkit("x")

    @tool.deprecated("use new")
    @kit.tool
    def work() -> str:
        """Work."""
        return ""

    async with make_host(kit) as host:
        assert host.assembly.tools["x_work"].tool.deprecated == "use new"


async def test_the_option_comes_before_the_decorator() -> None:
    @tool(deprecated="use this")
    @tool.deprecated("use that")
    def work() -> str:
        """Work."""
        return ""

    assert await deprecated(work) == ["use this"]


async def test_the_standard_s_own_decorator_serves_too() -> None:
    import typing_extensions

    standard: Any = typing_extensions.deprecated

    def work(a: int) -> int:
        """Work."""
        return a

    assert await deprecated(tool(standard("use new")(work))) == ["use new"]


@pytest.mark.parametrize("message", ["", "  ", 5])
async def test_a_deprecation_without_words_costs_the_tool(message: Any) -> None:
    kit = Toolkit("x")
    kit.tool(deprecated=message)(old)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        (problem,) = host.problems
        assert f"its deprecated is {message!r}; say what to use instead" in str(problem)


# --- what it shares with the other decorators


async def test_all_options_are_those_of_a_toolkit() -> None:
    @tool(requires_secrets="KEY", ui="ui://x/y", adapters=[], meta={"com.example/a": 1}, enabled=lambda config: True)
    def function(context: Context) -> str:
        """Do it."""
        return ""

    kit = Toolkit("x")
    kit.tool(
        requires_secrets="KEY",
        ui="ui://x/y",
        adapters=[],
        meta={"com.example/a": 1},
        enabled=function.definition.enabled,
    )(function.definition.function)
    assert list(kit.register_tools()) == [function.definition]
    assert function.definition.requires_secrets == ("KEY",)
    assert function.definition.extensions == {"ui": "ui://x/y"}


async def test_a_definition_that_is_wrong_costs_that_tool_alone() -> None:
    @tool(title=WRONG)
    def wrong() -> str:
        """Have a title that is no text."""
        return ""

    kit = Toolkit("x")
    kit.add("bad", wrong)
    kit.add(add)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["x_add"]
        (problem,) = host.problems
        line = wrong.definition.function.__code__.co_firstlineno
        assert f"tool 'bad' ({__file__}:{line}): its title is 5, not text" in str(problem)


@pytest.mark.parametrize(
    ("decorate", "told"),
    [
        (lambda: decorator(desc="Adds."), "there is no option 'desc'; did you mean 'description'?"),
        (lambda: decorator(require_secrets=["X"]), "did you mean 'requires_secrets'?"),
        (lambda: decorator(quite_else=1), "there is no option 'quite_else'\n"),
        (lambda: decorator(function=len), "there is no option 'function'"),
        (lambda: decorator(execution="optional"), "there is no option 'execution': the host serves no tasks"),
        (lambda: decorator("name"), "'name' is no function: write @tool(name=...)"),
        (lambda: decorator.deprecated(old), 'is no message: write @tool.deprecated("use add instead")'),
        (lambda: decorator.deprecated("use new")(len), "cannot be marked: say deprecated='use new' as an option"),
        (lambda: decorator()(5), "5 is no function: write @tool above one"),
        (lambda: Toolkit.tool(old), "make an object of it, kit = Toolkit(...), and write @kit.tool"),  # type: ignore[call-overload]  # that is the point
        (lambda: Toolkit("x").run(port=1), 'an address is for HTTP: kit.run("http", port=8001)'),
    ],
)
def test_a_decorator_that_is_written_wrong_says_how_to_write_it(decorate: Any, told: str) -> None:
    with pytest.raises(TypeError) as raised:
        decorate()
    assert told in f"{raised.value}\n"


def test_hosts_are_not_needed_to_define() -> None:
    assert isinstance(add, ToolFunction)
    assert not isinstance(add, Host)
