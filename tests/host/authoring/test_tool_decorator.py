"""`@tool` turns a function into an object that is still called as the function; a Toolkit records definitions."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import typing_extensions

from pegboard import Context, Host, PluginConfig, ToolAnnotations, Toolkit, tool
from pegboard.plugin import ToolDefinition, hookimpl
from pegboard.types import Prompt, Resource
from tests.host.hosting import failure, make_host, plugin_of, value

decorator: Any = tool
"""`tool`, for uses that type checkers reject."""


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


async def test_it_is_called_and_looks_like_the_function() -> None:
    assert (add(1), add(a=1, b=5), subtract(5, 2), await double(4)) == (2, 6, 3, 8)
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add two numbers.", __name__)  # type: ignore[attr-defined]
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 1) -> 'int'"
    assert (repr(add), repr(subtract)) == ("<tool 'add'>", "<tool 'minus'>")


def test_a_method_is_called_on_its_object() -> None:
    counter = Counter(5)
    assert (counter.count(), counter.count(by=2), Counter.count(counter)) == (6, 8, 9)
    assert Counter.count is vars(Counter)["count"]


async def test_toolkits_take_it_under_any_name() -> None:
    kit, counter = Toolkit("x"), Counter(0)
    kit.add(subtract, counter.count, [double, add])
    kit.add("plus", add)
    kit.add("three", partial(add, 2))
    assert kit.tool(name="other", title="Other")(subtract) is subtract
    async with make_host(kit) as host:
        tools = host.assembly.tools
        assert [name.removeprefix("x_") for name in tools] == [
            "add", "count", "double", "minus", "other", "plus", "three",
        ]  # fmt: skip
        assert await value(host, "x_plus", {"a": 1, "b": 2}) == 3
        assert await value(host, "x_count", {"by": 3}) == counter.value == 3
        assert [tools[name].tool.title for name in ("x_minus", "x_other")] == ["Subtract", "Other"]
        assert tools["x_other"].tool.annotations == ToolAnnotations(read_only=True)
        assert tools["x_minus"].function.mode == "inline"
    assert add.definition.name is None


def test_a_decorator_above_another_adds_to_it() -> None:
    both = tool(title="Two")(tool(title="One", description="Does it.")(add))
    assert both.definition == ToolDefinition(add.definition.function, title="Two", description="Does it.")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (("plus",), "'plus' is the name of one tool: write kit.add('plus', tool)"),
        ((add, "plus"), "'plus' is not a tool: pass functions or results of @tool"),
        ((5,), "5 is not a tool"),
    ],
)
def test_a_toolkit_refuses_other_objects(items: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        Toolkit("x").add(*items)


async def test_plugins_contribute_it_and_add_it_while_the_host_runs() -> None:
    module = ModuleType("numbers")
    vars(module)["register_tools"] = hookimpl(lambda context: [add, double])
    async with make_host(plugins={"p": plugin_of(tools=[Counter(2).count]), "numbers": module}) as host:
        assert host.problems == ()
        assert host.catalogue.add(subtract) == ("minus",)
        assert list(host.assembly.tools) == ["add", "count", "double", "minus"]
        assert await value(host, "count") == 3


def old() -> str:
    """Be old."""
    return "old"


def not_async(config: object) -> Iterator[int]:
    yield 1


def test_a_tool_is_deprecated_by_an_option_or_a_decorator() -> None:
    def marked() -> str:
        """Be old."""
        return "old"

    mark: Any = tool.deprecated("use new")
    by_standard: Any = typing_extensions.deprecated("use new")
    assert mark(marked) is marked
    functions: list[Any] = [mark(tool(old)), tool(marked), marked, partial(marked), tool(by_standard(lambda: "old"))]
    functions += [tool(deprecated="use\n  new ")(old), tool(deprecated="use new")(mark(lambda: "old"))]
    kit = Toolkit("x")
    for number, function in enumerate(functions):
        kit.tool(name=f"t{number}", description="Be old.")(function)
    kit.tool(name="plain")(old)
    tools = make_host(kit).load().tools
    assert [bound.tool.deprecated for bound in tools.values()] == [None] + ["use new"] * 7


@pytest.mark.parametrize(
    ("decorate", "message"),
    [
        (lambda: decorator(descripton="Adds."), "there is no option 'descripton'; did you mean 'description'?"),
        (lambda: decorator("name"), "'name' is not a function: write @tool(name=...)"),
        (lambda: decorator.deprecated(old), 'is not a message: write @tool.deprecated("use add instead")'),
        (lambda: decorator()(5), "5 is not a function: write @tool above a function"),
        (lambda: RESOURCE(mimetype="text/plain"), "did you mean 'mime_type'"),
        (lambda: PROMPT(ui="ui://x"), "there is no option 'ui'"),
        (lambda: TOOL("name"), "@kit.tool(name=...)"),
        (lambda: Toolkit("x").resource(len), '@kit.resource("docs://readme")'),  # type: ignore[arg-type]
        (lambda: Toolkit("x").lifespan(not_async), "write `async def not_async`"),
        (lambda: Toolkit.tool(old), "create an object, kit = Toolkit(...), and write @kit.tool"),  # type: ignore[call-overload]
        (lambda: Toolkit("x").run(port=1), 'only HTTP has an address: kit.run("http", port=8001)'),
        (
            lambda: Toolkit("x").run(plugins={"slow": int}),  # type: ignore[dict-item]
            "plugins are settings, such as {'slow': {}}: pegboard.Host(p",
        ),
    ],
)
def test_a_misused_decorator_names_the_right_use(decorate: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        decorate()
    assert message in f"{raised.value}\n"


TOOL: Any = Toolkit("x").tool
PROMPT: Any = Toolkit("x").prompt
RESOURCE: Any = partial(Toolkit("x").resource, "x://y")


@pytest.mark.parametrize(
    ("decorate", "option", "message"),
    [
        (TOOL, "desc", "use `description`"),
        (TOOL, "auth", "use `scopes` for the scopes of callers, and `requires_auth` for a token that the tool needs"),
        (PROMPT, "auth", "the operator sets the scopes of callers in the configuration"),
        (PROMPT, "enabled", "let the operator hide it by scopes"),
        (TOOL, "read_only", "write `annotations=ToolAnnotations(read_only=...)`"),
        (TOOL, "readOnlyHint", "write `annotations=ToolAnnotations(read_only=...)`"),
        (TOOL, "extras", "write `metadata=ToolMetadata(extras=...)`"),
        (TOOL, "operations", "write `metadata=ToolMetadata(behavior=Behavior(operations=...))`"),
        (RESOURCE, "audience", "write `annotations=Annotations(audience=...)`"),
        (RESOURCE, "read_only", "the options are annotations, completions, description"),
        (PROMPT, "requires_secrets", "it is an option of @kit.tool"),
        (TOOL, "mime_type", "it is an option of @kit.resource"),
        (TOOL, "instructions", "it is an option of Toolkit(...)"),
        (TOOL, "retries", "the options are adapters, annotations, "),
    ],
)
def test_an_option_that_is_elsewhere_names_the_right_place(decorate: Any, option: str, message: str) -> None:
    with pytest.raises(TypeError, match=f"^there is no option '{option}': .*{re.escape(message)}"):
        decorate(**{option: None})


def test_a_decorated_function_stays_unchanged() -> None:
    kit = Toolkit("x")

    def wrong(a, *more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN202
        return a

    decorators: list[Any] = [kit.tool, kit.tool(name="other"), kit.prompt, kit.resource("x://y"), kit.lifespan]
    for decorate in decorators:
        assert decorate(wrong) is wrong


def test_all_options_are_served() -> None:
    kit = Toolkit("x")
    hints = ToolAnnotations("Other title", read_only=True, destructive=False, idempotent=True, open_world=False)

    kit.tool(name="do_it", title="Do it", description="Does it.", annotations=hints)(lambda: 1)
    kit.resource("docs://a", name="A", title="The A", description="About A.", mime_type="text/markdown")(lambda: "a")
    kit.prompt(name="ask", title="Ask", description="Asks.")(lambda: "?")
    assembly = make_host(kit).load()
    definition = assembly.tools["x_do_it"].tool
    assert (definition.title, definition.description, definition.owner) == ("Do it", "Does it.", "x")
    assert definition.annotations == hints
    assert [bound.item for bound in assembly.resources.values()] == [
        Resource("docs://a", "A", "The A", "About A.", "text/markdown", "x")
    ]
    assert [bound.item for bound in assembly.prompts.values()] == [Prompt("x_ask", "Ask", "Asks.", "x")]


class Settings(PluginConfig):
    write: bool = False
    word: str = "hello"


async def test_settings_enable_tools_and_names_may_lack_the_prefix() -> None:
    kit = Toolkit("x", config=Settings, prefix=False)
    kit.tool(name="write", description="Write.", enabled=lambda config: config.write)(lambda: "written")
    kit.tool(name="read", description="Read.", enabled=lambda config: True)(lambda: "read")
    kit.prompt(name="ask", description="Ask.")(lambda: "?")
    async with make_host(kit) as host:
        assert (list(host.assembly.tools), list(host.assembly.prompts)) == (["read"], ["ask"])
        (unserved,) = host.assembly.unserved
        assert unserved[:4] == ("tools", "write", "x", "switched off by the settings of x")
        await failure(host, "write")
    async with make_host(kit, config={"toolkits": {"x": {"write": True}}}) as host:
        assert await value(host, "write") == "written"


async def test_each_host_has_its_own_config_and_state() -> None:
    kit = Toolkit("x", config=Settings)
    living: list[str] = []

    @kit.lifespan
    async def live(config: Settings) -> AsyncIterator[list[str]]:
        living.append(config.word)
        yield [config.word]
        living.remove(config.word)

    @kit.tool
    async def say(context: Context, more: str = "") -> str:
        """Say the words."""
        context.state.append(more)
        await asyncio.sleep(0)
        return f"{context.config.word}: {' '.join(context.state)}".rstrip()

    def host(word: str) -> Host:
        return make_host(kit, config={"toolkits": {"x": {"word": word}}})

    async with host("moin") as first, host("servus") as second:
        assert living == ["moin", "servus"]
        calls = [value(first, "x_say", {"more": "a"}), value(second, "x_say", {"more": "b"})]
        assert await asyncio.gather(*calls) == ["moin: moin a", "servus: servus b"]
    assert not living


@pytest.mark.parametrize("name", [" ", None, 5])
def test_a_toolkit_must_have_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match=r'write Toolkit\("files"\)'):
        Toolkit(name)
