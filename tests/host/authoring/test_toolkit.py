"""A Toolkit records definitions, leaves functions unchanged, and serves every host of a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Context, Host, PluginConfig, ToolAnnotations, Toolkit
from pegboard.types import Prompt, Resource
from tests.host.hosting import failure, make_host, value


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
