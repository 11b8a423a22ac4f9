"""Implementations of hooks that are refused, contributions that are refused, and how plugins are called."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import nullcontext
from typing import Any

import pytest

from pegboard import Host, Toolkit, hookspecs
from pegboard.config import HostConfig
from pegboard.loading.discovery import ProgramPlugins
from pegboard.loading.hook_manager import HookManager
from pegboard.loading.loader import load
from pegboard.loading.plugins import contributions_of
from pegboard.plugin import (
    Middleware,
    Plugin,
    PluginContext,
    PluginError,
    ToolDefinition,
    Transport,
    hookimpl,
)
from pegboard.types import AuthProvider, Call, CallNext, Outcome, ToolAuthorization
from tests.host.hosting import plugin_context, work

CONTEXT = PluginContext("sample", None, logging.getLogger("sample"), Host().catalogue)


def plugin_with(**attributes: Any) -> Plugin:
    sample: type[Plugin] = type("Sample", (Plugin,), attributes)
    return sample(None)


def refusal(plugin: object, hooks: HookManager | None = None) -> str:
    with pytest.raises(PluginError) as caught, (hooks or HookManager()).registered(plugin, "sample"):
        pass
    return str(caught.value)


def returning(hook: str, value: object) -> list[Any]:
    """Return the contributions of a plugin whose hook returns a value."""
    plugin, hooks = plugin_with(**{hook: hookimpl(lambda self: value)}), HookManager()
    with hooks.registered(plugin, "sample") as names:
        assert names == [hook]
        return hooks.contributions(hook, CONTEXT)


class Greeting:
    """A contribution of a hook that pegboard does not have."""

    text = "hello"


class Farewell:
    """Another contribution."""


def register_greetings(context: PluginContext) -> Iterable[Greeting | Farewell]:
    """Return greetings."""
    raise NotImplementedError


def greeting_plugin(*returned: object) -> Plugin:
    return plugin_with(register_greetings=hookimpl(lambda self, context: returned))


def test_a_hook_is_one_function_and_its_contributions_reach_a_consumer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hookspecs, "register_greetings", hookspecs.hookspec(register_greetings), raising=False)
    greeting = Greeting()
    returned: dict[str, list[object]] = {"b": [greeting], "a": [], "c": [5], "d": [greeting]}
    plugins = {name: greeting_plugin(*greetings) for name, greetings in returned.items()}
    config = HostConfig.of({"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}})
    report = load(config, given=ProgramPlugins(plugins=plugins), context=plugin_context)
    pairs = contributions_of(report.plugins, register_greetings)
    assert [(plugin.origin.name, item) for plugin, item in pairs] == [("b", greeting), ("d", greeting)]
    (problem,) = (problem for problem in report.problems if problem.stage == "contribute")
    assert problem.message == "'register_greetings' returned int, not Greeting or Farewell"


def test_each_plugin_is_called_through_pluggy_and_a_failure_affects_one() -> None:
    def crash(self: Any) -> list[Any]:
        raise ZeroDivisionError("a bug")

    good = plugin_with(register_tools=hookimpl(lambda self: [ToolDefinition(work)]))
    hooks = HookManager()
    bad = plugin_with(register_tools=hookimpl(crash))
    calls: list[list[str]] = []
    hooks.add_hookcall_monitoring(
        lambda name, implementations, arguments: calls.append(
            [name, *(implementation.plugin_name for implementation in implementations)]
        ),
        lambda *_: None,
    )
    with pytest.raises(ZeroDivisionError, match="a bug"), hooks.registered(bad, "bad"):
        hooks.contributions("register_tools", CONTEXT)
    with hooks.registered(good, "good"):
        assert len(hooks.contributions("register_tools", CONTEXT)) == 1
    assert calls == [["register_tools", "bad"], ["register_tools", "good"]]


def test_a_refused_plugin_leaves_nothing_behind() -> None:
    hooks = HookManager()
    wrong = plugin_with(register_tools=hookimpl(lambda self: []), on_tuesdays=hookimpl(lambda self: []))
    assert refusal(wrong, hooks) == "unknown hook 'on_tuesdays'"
    assert not hooks.get_plugins()
    assert not hooks.hook.register_tools.get_hookimpls()


async def async_hook(self: Any) -> list[Any]:
    return [self]


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


async def async_generator(self: Any) -> AsyncIterator[Any]:
    yield self


def plain(self: Any) -> list[Any]:
    return [self]


@pytest.mark.parametrize(
    ("hooks", "cause"),
    [
        ({"register_tools": hookimpl(functools.partial(plain, 1))}, "is a partial object: define the hook with `def`"),
        ({"register_tools": hookimpl(async_generator)}, "'register_tools' is an async generator; return a list"),
        ({"lifespan": hookimpl(async_generator)}, "put @contextlib.asynccontextmanager on it"),
        ({"register_tools": hookimpl(tryfirst=True)(wrapped(plain))}, "the operator sets the order in [host]"),
        (
            {"register_a": hookimpl(specname="lifespan")(lambda self, ctx: None)},
            "'lifespan' has no parameter 'ctx'; it has: context",
        ),
    ],
)
def test_an_implementation_that_breaks_a_rule_is_refused(hooks: dict[str, Any], cause: str) -> None:
    assert cause in refusal(plugin_with(**hooks))


@pytest.mark.parametrize(("name", "hook"), [("enter_lifespan", "lifespan"), ("register_tools", "register_tools")])
def test_an_override_without_the_marker_is_refused(name: str, hook: str) -> None:
    kit: type[Toolkit] = type("Kit", (Toolkit,), {name: lambda self: None})
    message = f"{name!r} overrides the implementation of a hook, but lacks its marker @hookimpl(specname={hook!r})"
    assert refusal(kit("kit")) == message


TOOL = ToolDefinition(work)


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


class Channel(Transport):
    name = "channel"

    async def run(self, host: object) -> None: ...


class Misspelt(Middleware):
    async def on_call_tools(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


def test_any_collection_of_accepted_contributions_is_taken() -> None:
    for collect in (list, tuple, iter, lambda items: (item for item in items)):
        assert [item is TOOL for item in returning("register_tools", collect([TOOL, TOOL]))] == [True, True]
    assert returning("register_tools", None) == []


@pytest.mark.parametrize(
    ("hook", "value", "cause"),
    [
        ("register_tools", TOOL, "returned one ToolDefinition, not a list of contributions"),
        ("register_tools", [TOOL, work], "returned function, not ToolDefinition or ToolFunction"),
        ("register_transports", [object()], "returned object, which does not derive from Transport"),
        ("register_transports", [Channel], "returned the class Channel, not an instance of it"),
        ("register_middleware", [work], "middleware whose function does not take a call and call_next"),
        (
            "register_middleware",
            [Middleware()],
            "Middleware that overrides no method: override one of on_message, on_request",
        ),
        ("register_middleware", [Misspelt()], "with the unknown method on_call_tools; did you mean on_call_tool?"),
        ("register_auth_providers", [Acme()], "returned Acme, not AuthProvider"),
        ("lifespan", nullcontext, "returned the class nullcontext, not an instance of it"),
    ],
)
def test_other_contributions_are_refused(hook: str, value: object, cause: str) -> None:
    with pytest.raises(PluginError) as caught:
        returning(hook, value)
    assert str(caught.value).startswith(f"{hook!r} returned ")
    assert cause in str(caught.value)


def test_a_coroutine_is_refused_and_closed() -> None:
    coroutine = async_hook(None)
    with pytest.raises(PluginError, match="'register_tools' is async; hooks are plain functions"):
        returning("register_tools", coroutine)
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED
