"""A Toolkit holds definitions, leaves functions as they are, and serves every host of a program."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from pegboard import Context, Host, PluginConfig, ToolAnnotations, Toolkit
from pegboard.types import Call, Listing
from tests.host.hosting import failure, make_host, value


def test_a_decorated_function_stays_as_it_is() -> None:
    kit = Toolkit("x")

    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    assert kit.tool(add) is add
    assert kit.tool(name="other")(add) is add
    assert kit.prompt(add) is add
    assert kit.prompt(name="other")(add) is add
    assert kit.resource("x://y")(add) is add
    assert kit.lifespan(add) is add
    assert add(1, 2) == 3


async def test_everything_said_about_a_tool_is_served() -> None:
    kit = Toolkit("x")

    @kit.tool(
        name="do_it",
        title="Do it",
        description="Does it.",
        annotations=ToolAnnotations(
            "Other title", read_only=True, destructive=False, idempotent=True, open_world=False
        ),
    )
    def function(a: int) -> list[int]:
        """Not this text."""
        return [a]

    @kit.tool(annotations=ToolAnnotations(title="From the hints"))
    def plain() -> str:
        """First line.

        More lines.
        """
        return ""

    async with make_host(kit) as host:
        found = host.assembly.tools["x_do_it"].tool
        assert (found.name, found.title, found.description, found.owner) == ("x_do_it", "Do it", "Does it.", "x")
        assert found.annotations == ToolAnnotations("Other title", True, False, True, False)
        assert found.output_schema == {"type": "array", "items": {"type": "integer"}}
        plain_tool = host.assembly.tools["x_plain"].tool
        assert plain_tool.title == "From the hints"
        assert plain_tool.description == "First line.\n\nMore lines."
        assert plain_tool.output_schema is None


async def test_everything_said_about_resources_and_prompts_is_served() -> None:
    kit = Toolkit("x")

    @kit.resource("docs://a", name="A", title="The A", description="About A.", mime_type="text/markdown")
    def resource() -> str:
        return "a"

    @kit.resource("docs://b")
    def from_the_function() -> str:
        """About B."""
        return "b"

    @kit.prompt(name="ask", title="Ask", description="Asks.")
    def prompt() -> str:
        return "?"

    async with make_host(kit) as host:
        resources = await host.dispatch(Call("resources/list"))
        prompts = await host.dispatch(Call("prompts/list"))
    assert isinstance(resources, Listing)
    assert isinstance(prompts, Listing)
    first, second = resources.items
    assert [getattr(first, name) for name in ("uri", "name", "title", "description", "mime_type", "owner")] == [
        "docs://a", "A", "The A", "About A.", "text/markdown", "x",
    ]  # fmt: skip
    assert (second.name, second.description) == ("from_the_function", "About B.")
    (asked,) = prompts.items
    assert (asked.name, asked.title, asked.description, asked.owner) == ("x_ask", "Ask", "Asks.", "x")


async def test_without_prefix_tools_and_prompts_carry_their_own_names() -> None:
    kit = Toolkit("x", prefix=False)

    @kit.tool
    def read_it() -> str:
        """Read."""
        return "read"

    @kit.prompt
    def ask() -> str:
        """Ask."""
        return "?"

    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["read_it"]
        assert list(host.assembly.prompts) == ["ask"]
        assert await value(host, "read_it") == "read"


class Settings(PluginConfig):
    write: bool = False
    word: str = "hello"


async def test_a_tool_can_be_switched_on_by_the_settings() -> None:
    kit = Toolkit("x", config=Settings)

    @kit.tool(enabled=lambda config: config.write)
    def write() -> str:
        """Write."""
        return "written"

    @kit.tool(enabled=lambda config: True)
    def read() -> str:
        """Read."""
        return "read"

    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["x_read"]
        (withheld,) = host.assembly.unserved
        assert (withheld.name, withheld.owner) == ("x_write", "x")
        assert withheld.reason == "switched off by the settings of x"
        await failure(host, "x_write")
    async with make_host(kit, config={"toolkits": {"x": {"write": True}}}) as host:
        assert await value(host, "x_write") == "written"


async def test_one_toolkit_serves_several_hosts_each_with_its_own_config_and_state() -> None:
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
        answers = await asyncio.gather(*calls)
        assert answers == ["moin: moin a", "servus: servus b"]
    assert not living


async def test_a_lifespan_may_be_any_async_context_manager() -> None:
    kit = Toolkit("x")
    story: list[str] = []

    @asynccontextmanager
    async def connection() -> AsyncIterator[str]:
        story.append("open")
        yield "the connection"
        story.append("closed")

    @kit.lifespan
    def live(config: None) -> AbstractAsyncContextManager[str]:
        return connection()

    @kit.tool
    def look(context: Context) -> str:
        """Look at the state."""
        return str(context.state)

    async with make_host(kit) as host:
        assert await value(host, "x_look") == "the connection"
    assert story == ["open", "closed"]


def test_defining_a_wrong_tool_raises_nothing() -> None:
    kit = Toolkit("x")

    @kit.tool
    def wrong(a, *more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN202
        return a

    assert wrong(1) == 1  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", ["tool", "prompt", "resource"])
def test_a_misspelt_option_is_noticed_where_it_is_written(name: str) -> None:
    kit = Toolkit("x")
    with pytest.raises(TypeError):
        getattr(kit, name)("x://y", titel="A title")


@pytest.mark.parametrize(
    ("decorate", "close"),
    [
        (lambda kit: kit.tool(anotations=None), "annotations"),
        (lambda kit: kit.tool(require_secrets=["X"]), "requires_secrets"),
        (lambda kit: kit.resource("x://y", mimetype="text/plain"), "mime_type"),
        (lambda kit: kit.prompt(completion={}), "completions"),
    ],
)
def test_an_option_that_there_is_not_is_told_with_the_nearest(decorate: Any, close: str) -> None:
    with pytest.raises(TypeError, match=f"did you mean '{close}'"):
        decorate(Toolkit("x"))


def test_a_tool_has_no_function_among_its_options() -> None:
    with pytest.raises(TypeError, match="there is no option 'function'"):
        Toolkit("x").tool(function=len)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("decorate", "meant"),
    [
        (lambda kit: kit.tool("name"), "@kit.tool(name=...)"),
        (lambda kit: kit.prompt("name"), "@kit.prompt(name=...)"),
        (lambda kit: kit.resource(len), '@kit.resource("docs://readme")'),
    ],
)
def test_a_decorator_that_is_written_wrong_says_how_to_write_it(decorate: Any, meant: str) -> None:
    with pytest.raises(TypeError, match=re.escape(meant)):
        decorate(Toolkit("x"))


@pytest.mark.parametrize("name", ["", " ", None, 5, len])
def test_a_toolkit_has_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match=r'is no name for a toolkit; write one: Toolkit\("files"\)'):
        Toolkit(name)


def test_a_lifespan_that_is_not_async_is_refused_where_it_is_written() -> None:
    def opened(config: object) -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="write `async def opened`"):
        Toolkit("demo").lifespan(opened)
