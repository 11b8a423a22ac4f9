"""The order of error adapters: the tool's own, the provider's, the listed ones, the others, the fallbacks."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Authorization, ToolExecutionError, Toolkit, ToolRuntimeError
from pegboard.errors import ConfigError
from pegboard.plugin import ErrorAdapter, Plugin
from pegboard.types import AuthProvider, ToolAuthorization
from tests.host.authorization.test_tokens import Source
from tests.host.hosting import failure, make_host, plugin_of

slugs: list[str] = []


class Adapter(ErrorAdapter):
    """Recognizes the exceptions of one class, and records each request."""

    def __init__(self, slug: str, recognizes: type[Exception] = ValueError, fallback: bool = False) -> None:
        self.slug = slug
        self.recognizes = recognizes
        self.fallback = fallback

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        slugs.append(self.slug)
        return ToolExecutionError(self.slug) if isinstance(error, self.recognizes) else None


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme", error_adapters="c")


def plugin(*adapters: ErrorAdapter) -> type[Plugin]:
    return plugin_of(register_error_adapters=adapters)


def kit_of(**options: Any) -> Toolkit:
    """Return a toolkit with a tool that fails, and the same tool without options."""
    kit = Toolkit("t", prefix=False)

    def fails() -> str:
        """Fail."""
        raise KeyError("canary")

    kit.tool(name="fails", **options)(fails)
    kit.tool(name="other")(fails)
    return kit


SOURCES = [Source(Authorization("t"))]
PLUGINS = {
    "a": plugin(Adapter("last", fallback=True), Adapter("a")),
    "b": plugin(Adapter("b")),
    "c": plugin(Adapter("c"), Adapter("c last", fallback=True)),
    "providers": plugin_of(register_auth_providers=[Acme.provider], register_token_sources=SOURCES),
}


@pytest.mark.parametrize(
    ("options", "order"),
    [({}, "one, two, b, a, c, last, c last"), ({"requires_auth": Acme()}, "one, two, c, c last, b, a, last")],
)
async def test_adapters_are_asked_in_order(options: Any, order: str) -> None:
    options["adapters"] = [Adapter("one"), Adapter("two")]
    async with make_host(kit_of(**options), plugins=PLUGINS, error_adapters=["b"]) as host:
        slugs.clear()
        await failure(host, "fails")
        assert slugs == order.split(", ")
        slugs.clear()
        await failure(host, "other")
        assert set(slugs) == {"a", "b", "c", "c last", "last"}
    for listed, why in ((["unknown"], "no enabled plugin provides 'unknown'"), (["a", "a"], '"a" is named twice')):
        with pytest.raises(ConfigError, match=why):
            await make_host(kit_of(), plugins=PLUGINS, error_adapters=listed).start()


async def test_a_tools_own_adapters_serve_only_that_tool() -> None:
    kit = kit_of(adapters=[Adapter("own", KeyError)])
    async with make_host(kit, plugins={"p": plugin(Adapter("general", KeyError))}) as host:
        assert (await failure(host, "fails")).error.message == "own"
        assert (await failure(host, "other")).error.message == "general"
