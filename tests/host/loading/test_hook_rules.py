"""What an implementation of a hook may be, and what it may return."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from types import ModuleType
from typing import Any

import pluggy
import pytest

from pegboard import Host, Toolkit, hookspecs
from pegboard.loading.hook_rules import HOOKS, Manager, check_hooks, contributions
from pegboard.loading.plugins import Loaded
from pegboard.plugin import (
    Middleware,
    Plugin,
    PluginContext,
    PluginError,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
    around,
    hookimpl,
)
from pegboard.plugin.origin import Origin
from pegboard.types import AuthProvider, Call, CallNext, Outcome, ToolAuthorization

ORIGIN = Origin("plugin", "sample", "sample:Sample")
CONTEXT = PluginContext("sample", None, logging.getLogger("sample"), Host().catalogue)


def work() -> str:
    """Do some work."""
    return "done"


def plugin_with(**hooks: Any) -> Plugin:
    """A plugin whose class has these attributes."""
    sample: type[Plugin] = type("Sample", (Plugin,), hooks)
    return sample(None)


def refusal(instance: object) -> str:
    with pytest.raises(PluginError) as caught:
        check_hooks(instance, "sample", Manager())
    return str(caught.value)


def returned(hook: str, value: object) -> list[Any]:
    """What becomes of a value that an implementation returns."""
    return contributions(hook, lambda: value, (), CONTEXT)


# --- implementations


def test_every_hook_of_the_specification_has_its_rule_and_its_place() -> None:
    manager = pluggy.PluginManager("pegboard")
    manager.add_hookspecs(hookspecs)
    specified = {name for name in vars(hookspecs) if getattr(getattr(manager.hook, name, None), "has_spec", bool)()}
    assert specified == set(HOOKS)
    assert {hook.field for hook in HOOKS.values()} <= set(vars(Loaded(ORIGIN, None, lambda _: CONTEXT)))


def marked(name: str) -> Callable[..., Any]:
    """A function with a hook's name and marker."""

    def hook(self: Any, context: PluginContext) -> list[Any]:
        return [self, context]

    hook.__name__ = name
    return hookimpl(hook)


@pytest.mark.parametrize("name", HOOKS)
def test_a_method_with_the_marker_is_found(name: str) -> None:
    plugin = plugin_with(**{name: marked(name)})
    ((hook, function, parameters),) = check_hooks(plugin, "sample", Manager())
    assert (hook, parameters) == (name, ("context",))
    assert function(CONTEXT) == [plugin, CONTEXT]


def test_an_implementation_may_take_no_parameter_and_have_a_default_of_its_own() -> None:
    class Sample(Plugin):
        @hookimpl
        def register_tools(self) -> list[Any]:
            return []

        @hookimpl
        def register_prompts(self, extra: int = 1) -> list[Any]:
            return [extra]

    found = {
        hook: (function, parameters) for hook, function, parameters in check_hooks(Sample(None), "sample", Manager())
    }
    assert {hook: parameters for hook, (_, parameters) in found.items()} == {
        "register_tools": (),
        "register_prompts": (),
    }


def test_static_and_class_methods_and_functions_of_another_name_count() -> None:
    class Sample(Plugin):
        @staticmethod
        @hookimpl
        def register_tools() -> list[Any]:
            return []

        @classmethod
        @hookimpl
        def register_prompts(cls) -> list[Any]:
            return []

        @hookimpl(specname="register_resources")
        def mine(self) -> list[Any]:
            return []

    assert {hook for hook, _, _ in check_hooks(Sample(None), "sample", Manager())} == {
        "register_tools",
        "register_prompts",
        "register_resources",
    }


def test_a_module_is_a_plugin() -> None:
    module = ModuleType("sample")
    module.register_tools = hookimpl(lambda context: [context])  # type: ignore[attr-defined]
    ((hook, function, parameters),) = check_hooks(module, "sample", Manager())
    assert (hook, parameters, function(5)) == ("register_tools", ("context",), [5])


def test_a_toolkit_implements_what_toolkits_are_for() -> None:
    hooks = {hook for hook, _, _ in check_hooks(Toolkit("sample"), "sample", Manager())}
    assert hooks == {"register_tools", "register_resources", "register_prompts", "lifespan"}


def test_one_object_may_be_checked_again_and_again() -> None:
    kit, manager = Toolkit("sample"), Manager()
    assert len(check_hooks(kit, "one", manager)) == len(check_hooks(kit, "other", manager)) == 4


def test_nothing_of_a_plugin_stays_behind_whether_it_is_refused_or_not() -> None:
    class Wrong(Plugin):
        @hookimpl
        def register_tools(self) -> list[Any]:
            return []

        @hookimpl
        def register_nothing(self) -> list[Any]:
            return []

    manager = Manager()
    with pytest.raises(PluginError, match="there is no hook 'register_nothing'"):
        check_hooks(Wrong(None), "sample", manager)
    assert len(check_hooks(Toolkit("sample"), "sample", manager)) == 4
    assert not manager.get_plugins()
    assert not manager.hook.register_tools.get_hookimpls()


def test_what_is_no_hook_is_left_alone() -> None:
    class Sample(Plugin):
        lifespan = "a value that happens to have a hook's name"

        @property
        def trap(self) -> int:
            raise AssertionError("a property is not to be read")

        def helper(self) -> None:
            raise AssertionError("not to be called")

    assert check_hooks(Sample(None), "sample", Manager()) == []


async def async_hook(self: Any) -> list[Any]:
    return [self]


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


async def handle(call: Call, call_next: CallNext) -> Outcome:
    return await call_next(call)


async def async_generator(self: Any) -> AsyncIterator[Any]:
    yield self


def wrapper(self: Any) -> Iterator[Any]:
    return (yield self)


def plain(self: Any) -> list[Any]:
    return [self]


@pytest.mark.parametrize(
    ("hooks", "cause"),
    [
        ({"regsiter_tools": hookimpl(wrapped(plain))}, "no hook 'regsiter_tools'; did you mean 'register_tools'?"),
        ({"on_tuesdays": hookimpl(wrapped(plain))}, "there is no hook 'on_tuesdays'"),
        ({"register_tools": plain}, "'register_tools' is the name of a hook, but the function lacks the marker"),
        ({"register_tools": staticmethod(plain)}, "but the function lacks the marker @hookimpl"),
        ({"register_tools": classmethod(plain)}, "but the function lacks the marker @hookimpl"),
        ({"register_tools": hookimpl(functools.partial(plain, 1))}, "is an object of partial; write it with `def`"),
        ({"register_tools": hookimpl(wrapped(async_hook))}, "'register_tools' is async; hooks are plain functions"),
        ({"register_tools": hookimpl(wrapped(wrapped(async_hook)))}, "'register_tools' is async"),
        ({"register_tools": hookimpl(async_generator)}, "'register_tools' is an async generator; return a list"),
        ({"lifespan": hookimpl(async_generator)}, "put @contextlib.asynccontextmanager on it"),
        ({"register_tools": hookimpl(wrapper=True)(wrapper)}, "'register_tools' is a wrapper"),
        ({"register_tools": hookimpl(hookwrapper=True)(wrapper)}, "'register_tools' is a wrapper"),
        ({"register_tools": hookimpl(tryfirst=True)(wrapped(plain))}, "order is the operator's, in [host]"),
        ({"register_tools": hookimpl(trylast=True)(wrapped(plain))}, "order is the operator's, in [host]"),
    ],
)
def test_an_implementation_that_breaks_a_rule_is_refused(hooks: dict[str, Any], cause: str) -> None:
    assert cause in refusal(plugin_with(**hooks))


def test_a_parameter_that_the_hook_does_not_have_is_named() -> None:
    class Sample(Plugin):
        @hookimpl
        def register_tools(self, context: PluginContext, host: Any) -> list[Any]:
            return [context, host]

    assert refusal(Sample(None)) == "'register_tools' has no parameter 'host'; it has: context"


def test_a_parameter_with_a_default_is_not_blamed() -> None:
    class Sample(Plugin):
        @hookimpl
        def register_prompts(self, extra: int = 1) -> list[Any]:
            return [extra]

        @hookimpl
        def register_tools(self, host: Any) -> list[Any]:
            return [host]

    assert refusal(Sample(None)) == "'register_tools' has no parameter 'host'; it has: context"


def test_a_parameter_is_named_with_the_hook_that_its_function_is_for() -> None:
    class Sample(Plugin):
        @hookimpl(specname="lifespan")
        def live(self, ctx: Any) -> Any:
            return ctx

    assert refusal(Sample(None)) == "'lifespan' has no parameter 'ctx'; it has: context"


# --- contributions

TOOL = ToolDefinition(work)


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


class Channel:
    """Has whatever any contribution must have."""

    name = "channel"

    async def run(self, host: object) -> None: ...
    async def serve(self, connection: object, messages: object, host: object) -> None: ...
    async def token(self, request: object) -> None: ...
    def get(self, name: str) -> str | None: ...


class Misspelt(Middleware):
    async def on_call_tools(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


class Narrow(Middleware):
    async def on_call_tool(self, call: Call) -> Outcome:  # type: ignore[override]  # that is the point of it
        raise NotImplementedError


@pytest.mark.parametrize(
    ("hook", "item"),
    [
        ("register_tools", TOOL),
        ("register_resources", ResourceDefinition("docs://work", work)),
        ("register_prompts", PromptDefinition(work)),
        ("register_middleware", around("tools/call")(handle)),
        ("register_transports", Channel()),
        ("register_protocols", Channel()),
        ("register_auth_providers", AuthProvider("acme", "Acme")),
        ("register_token_sources", Channel()),
        ("register_secret_stores", Channel()),
    ],
)
@pytest.mark.parametrize(
    "collect",
    [list, tuple, iter, lambda items: (item for item in items)],
    ids=["list", "tuple", "iterator", "generator"],
)
def test_any_collection_of_what_the_hook_promises_is_taken(hook: str, item: Any, collect: Callable[..., Any]) -> None:
    taken = returned(hook, collect([item, item]))
    assert [one is item for one in taken] == [True, True]


def test_an_implementation_gets_the_context_it_asks_for() -> None:
    seen: list[PluginContext] = []
    contributions("register_tools", seen.append, ("context",), CONTEXT)
    assert seen == [CONTEXT]


def test_nothing_is_a_fine_contribution() -> None:
    assert returned("register_tools", None) == returned("register_tools", []) == []


def test_a_life_is_one_context_manager() -> None:
    life = nullcontext()
    assert returned("lifespan", life) == [life]

    @asynccontextmanager
    async def live() -> AsyncIterator[int]:
        yield 1

    assert len(contributions("lifespan", live, (), CONTEXT)) == 1


@pytest.mark.parametrize(
    ("hook", "value", "cause"),
    [
        ("register_tools", TOOL, "returned one ToolDefinition, not a list of contributions"),
        ("register_middleware", around()(handle), "returned one Around, not a list of contributions"),
        ("register_middleware", handle, "returned one function, not a list"),
        ("register_tools", work, "returned one function, not a list"),
        ("register_tools", 5, "returned one int, not a list"),
        ("register_tools", "work", "returned one str, not a list"),
        ("register_tools", b"work", "returned one bytes, not a list"),
        ("register_tools", {"work": TOOL}, "returned one dict, not a list"),
        ("register_tools", [TOOL, work], "returned function, not ToolDefinition"),
        ("register_tools", [None], "returned NoneType, not ToolDefinition"),
        ("register_tools", [(work,)], "returned tuple, not ToolDefinition"),
        ("register_prompts", [TOOL], "returned ToolDefinition, not PromptDefinition"),
        ("register_transports", [object()], "returned object, which lacks name, run"),
        ("register_transports", [Channel], "returned the class Channel, not an instance of it"),
        ("register_transports", [type("Nameless", (Channel,), {"name": None})()], "Nameless, whose name is no text"),
        ("register_middleware", [5], "returned int, not Middleware or Callable"),
        ("register_middleware", [around()(5)], "middleware, of which its function is int, no function"),  # type: ignore[arg-type]
        ("register_middleware", [work], "middleware, of which its function does not take a call and call_next"),
        ("register_middleware", [around(name=5)(handle)], "middleware whose name is no text"),  # type: ignore[arg-type]
        ("register_middleware", [Middleware()], "Middleware, which overrides none of on_message, on_request"),
        (
            "register_middleware",
            [Misspelt()],
            "Misspelt, whose on_call_tools is none of its methods; did you mean on_call_tool?",
        ),
        ("register_middleware", [Narrow()], "Narrow, of which on_call_tool does not take a call and call_next"),
        ("register_middleware", [Narrow], "returned the class Narrow, not an instance of it"),
        ("register_auth_providers", [Acme()], "returned Acme, not AuthProvider"),
        ("register_token_sources", [object()], "returned object, which lacks token"),
        ("register_secret_stores", [{}], "returned dict, which lacks name"),
        ("lifespan", None, "returned NoneType, which lacks __aenter__, __aexit__"),
        ("lifespan", nullcontext, "returned the class nullcontext, not an instance of it"),
    ],
)
def test_anything_else_is_refused(hook: str, value: object, cause: str) -> None:
    with pytest.raises(PluginError) as caught:
        returned(hook, value)
    assert f"{hook!r} " in str(caught.value)
    assert cause in str(caught.value)


def test_a_coroutine_is_refused_and_closed() -> None:
    coroutine = async_hook(None)
    with pytest.raises(PluginError, match="'register_tools' is async; hooks are plain functions"):
        returned("register_tools", coroutine)
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_what_an_implementation_raises_is_not_hidden() -> None:
    def crash() -> list[Any]:
        raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError, match="of its own"):
        contributions("register_tools", crash, (), CONTEXT)
