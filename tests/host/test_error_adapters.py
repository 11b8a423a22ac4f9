"""Which error adapter is asked first: a tool's own, those that the operator lists, the others, the fallbacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import Authorization, Host, ToolExecutionError, Toolkit
from pegboard.plugin import ConfigError, ErrorAdapter, Plugin, TokenSource, ToolRuntimeError, hookimpl
from pegboard.types import AuthProvider, TokenRequest, ToolAuthorization
from tests.host.hosting import failure, make_host


class Adapter:
    """Claims every exception of one kind, and writes down when it is asked."""

    def __init__(self, slug: str, asked: list[str], kind: type[Exception] = Exception, fallback: bool = False) -> None:
        self.slug = slug
        self.asked = asked
        self.kind = kind
        self.fallback = fallback

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        self.asked.append(self.slug)
        return ToolExecutionError(self.slug) if isinstance(error, self.kind) else None


class Broken:
    slug = "broken"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        raise RuntimeError("canary")


def plugin(*adapters: ErrorAdapter) -> type[Plugin]:
    class Adapting(Plugin):
        @hookimpl
        def register_error_adapters(self) -> Iterable[ErrorAdapter]:
            return adapters

    return Adapting


def kit_of(**options: Any) -> Toolkit:
    """A tool that fails, and one beside it without options."""
    kit = Toolkit("t", prefix=False)

    def fails() -> str:
        """Fail."""
        raise KeyError("canary")

    kit.tool(name="fails", **options)(fails)
    kit.tool(name="other")(fails)
    return kit


async def asked_for(host: Host, asked: list[str], name: str = "fails") -> list[str]:
    asked.clear()
    await failure(host, name)
    return asked[:]


async def test_a_tools_own_come_first_then_the_listed_then_the_others_then_the_fallbacks() -> None:
    asked: list[str] = []
    plugins = {
        "a": plugin(Adapter("last", asked, ValueError, fallback=True), Adapter("a", asked, ValueError)),
        "b": plugin(Adapter("b", asked, ValueError)),
        "c": plugin(Adapter("c one", asked, ValueError), Adapter("c two", asked, ValueError)),
        "d": plugin(Adapter("d", asked, ValueError)),
    }
    own = [Adapter("own one", asked, ValueError), Adapter("own two", asked, ValueError)]
    async with make_host(kit_of(adapters=own), plugins=plugins, error_adapters=["c", "b", "a"]) as host:
        chain = ["c one", "c two", "b", "a", "d", "last"]
        assert await asked_for(host, asked) == ["own one", "own two", *chain]
        assert await asked_for(host, asked, "other") == chain
    assert [adapter.slug for adapter in own] == ["own one", "own two"]


async def test_those_of_the_provider_that_a_tool_requires_come_after_its_own() -> None:
    asked: list[str] = []

    class Acme(ToolAuthorization):
        provider = AuthProvider("acme", "Acme", error_adapters="c")

    class Describing(Plugin):
        @hookimpl
        def register_auth_providers(self) -> Iterable[AuthProvider]:
            return [Acme.provider]

        @hookimpl
        def register_token_sources(self) -> Iterable[TokenSource]:
            return [GivesOne()]

    class GivesOne:
        async def token(self, request: TokenRequest) -> Authorization | None:
            return Authorization("t")

    plugins = {
        "a": plugin(Adapter("a", asked, ValueError)),
        "c": plugin(Adapter("c", asked, ValueError), Adapter("c last", asked, ValueError, fallback=True)),
        "providers": Describing,
    }
    options = {"adapters": [Adapter("own", asked, ValueError)], "requires_auth": Acme()}
    async with make_host(kit_of(**options), plugins=plugins, error_adapters=["a"]) as host:
        assert await asked_for(host, asked) == ["own", "c", "c last", "a"]
        assert await asked_for(host, asked, "other") == ["a", "c", "c last"]


async def test_a_tools_own_adapter_decides_for_it_alone() -> None:
    asked: list[str] = []
    kit = kit_of(adapters=[Adapter("own", asked, KeyError)])
    async with make_host(kit, plugins={"p": plugin(Adapter("general", asked, KeyError))}) as host:
        assert (await failure(host, "fails")).error.message == "own"
        assert (await failure(host, "other")).error.message == "general"


async def test_a_tools_own_adapter_that_raises_is_logged_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []
    async with make_host(kit_of(adapters=(Broken(), Adapter("next", asked)))) as host:
        assert (await failure(host, "fails")).error.message == "next"
    assert "the error adapter broken failed on KeyError" in caplog.text


@pytest.mark.parametrize(
    ("adapters", "reason"),
    [
        ([Broken], "its adapter Broken is a class; give an object of it"),
        ([object()], "lacks a slug or a method from_exception"),
        (["errors_http"], "its adapter 'errors_http' lacks a slug"),
        (Broken(), "not a list"),
        (None, "its adapters are None, not a list"),
    ],
    ids=["a class", "an object", "a name", "not in a list", "None"],
)
async def test_what_is_no_adapter_costs_that_tool_alone(adapters: Any, reason: str) -> None:
    async with make_host(kit_of(adapters=adapters)) as host:
        assert set(host.assembly.tools) == {"other"}
        (problem,) = host.assembly.problems
    assert reason in str(problem)


async def test_an_order_of_plugins_that_bring_no_adapter_keeps_the_host_from_starting() -> None:
    with pytest.raises(ConfigError, match="no plugin that runs brings 'nobody'"):
        async with make_host(kit_of(), error_adapters=["nobody"]):
            pass


def test_an_order_names_each_once() -> None:
    with pytest.raises(ConfigError, match='"a" is named twice'):
        make_host(error_adapters=["a", "a"])
