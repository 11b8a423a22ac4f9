"""Hosts in the process of the test, without installed plugins and toolkits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from pegboard import AuthorizationRequiredError, Host, ToolResult
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin import Middleware, Plugin, PluginContext, hookimpl
from pegboard.toolkit import Toolkit
from pegboard.types import LOCAL, Call, Caller, CallNext, Failure, Listing, Outcome
from tests.support import peer

Kind = TypeVar("Kind")
WAIT = peer.WAIT
"""The seconds after which a waiting test fails."""


async def until(true: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds that no event of the loop announces."""
    async with asyncio.timeout(WAIT):
        while not true():  # noqa: ASYNC110 - what is waited for may happen in a thread
            await asyncio.sleep(0)


async def nothing() -> None:
    """Neither wait nor fail."""


async def never() -> None:
    """Wait for an event that never comes."""
    await asyncio.Event().wait()


class Waiting:
    """A function that sets `begun`, and waits without end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self) -> None:
        self.begun.set()
        await never()


async def cancel(running: Coroutine[Any, Any, object], waiting: Waiting) -> None:
    """Cancel a coroutine once a function waits, and wait until the coroutine has ended."""
    task = asyncio.create_task(running)
    await waiting.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def plugin_context(plugin: LoadedPlugin, config: Any, log: logging.Logger) -> PluginContext:
    """Return the context of a plugin's hooks without a running host."""
    return PluginContext(plugin.origin.name, config, log, Host().catalogue)


def make_host(
    *kits: Toolkit,
    plugins: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **host: Any,
) -> Host:
    """Return a host with toolkits, plugins, other sections and keys of `[host]`. It is not started."""
    disabled = ["pegboard:*", *host.pop("disabled_plugins", [])]
    section = {"autoload": False, "disabled_plugins": disabled, **host}
    return Host({"host": section, **(config or {})}, plugins=plugins, toolkits={kit.name: kit for kit in kits})


@asynccontextmanager
async def listening(host: Host, transport: str = "http") -> AsyncIterator[int]:
    """Start a host that serves over one transport. Yield its port."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    host.for_transports.on_opened = lambda opened, _: address.set_result(opened)
    async with host:
        running = asyncio.create_task(host.run([transport]))
        try:
            async with asyncio.timeout(WAIT):
                port = int((await address).rpartition(":")[2])
            yield port
        finally:
            running.cancel()
            await asyncio.wait([running])


def work() -> str:
    """Work."""
    return "done"


async def got(kind: type[Kind], host: Host, method: str, *, caller: Caller = LOCAL, **params: Any) -> Kind:
    """Make a call whose outcome must be of this class, and return the outcome."""
    outcome = await host.dispatch(Call(method, params, caller))
    assert isinstance(outcome, kind), outcome
    return outcome


async def call(host: Host, name: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> Outcome:
    """Call a tool and return the outcome. `fields` are those of `Call`."""
    return await host.dispatch(Call("tools/call", {"name": name, "arguments": dict(arguments or {})}, **fields))


async def value(host: Host, name: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    """Call a tool that must succeed and return its value."""
    outcome = await call(host, name, arguments, **fields)
    assert isinstance(outcome, ToolResult), outcome
    return outcome.value


async def failure(host: Host, name: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> Failure:
    """Call a tool that must fail and return the failure."""
    outcome = await call(host, name, arguments, **fields)
    assert isinstance(outcome, Failure), outcome
    return outcome


async def authorization_error(host: Host, name: str, **fields: Any) -> AuthorizationRequiredError:
    """Call a tool without a token that it requires, and return the error."""
    error = (await failure(host, name, **fields)).error
    assert isinstance(error, AuthorizationRequiredError), error
    return error


async def pages(host: Host, caller: Caller = LOCAL, method: str = "tools/list", **fields: Any) -> list[Listing]:
    """Return the pages of a list."""
    listings: list[Listing] = []
    params: dict[str, Any] = {}
    while True:
        page = await host.dispatch(Call(method, params, caller, **fields))
        assert isinstance(page, Listing), page
        listings.append(page)
        if page.next_cursor is None:
            return listings
        params = {"cursor": page.next_cursor}


async def listed(host: Host, caller: Caller = LOCAL, method: str = "tools/list", **fields: Any) -> list[str]:
    """Return the names of a list, or the URIs of resources and templates."""
    items = [item for page in await pages(host, caller, method, **fields) for item in page.items]
    return [getattr(item, "uri", getattr(item, "uri_template", item.name)) for item in items]


def plugin_of(*, tools: Any = (), middleware: Any = (), stores: Any = (), **hooks: Any) -> type[Plugin]:
    """Return a plugin with these contributions. `hooks` has the contributions of other hooks, by their names."""
    common = {"register_tools": tools, "register_middleware": middleware, "register_secret_stores": stores}

    def returning(contributions: Any) -> Any:
        return hookimpl(lambda self: list(contributions))

    members = {hook: returning(contributions) for hook, contributions in (common | hooks).items()}
    plugin: type[Plugin] = type("Contributor", (Plugin,), members)
    return plugin


def kit_of(*functions: Callable[..., Any], **options: Any) -> Toolkit:
    """Return a toolkit whose tools are these functions under their own names, with these options."""
    kit = Toolkit("x", prefix=False)
    for function in functions:
        kit.tool(description="x", **options)(function)
    return kit


async def passing(call: Call, call_next: CallNext) -> Outcome:
    """Middleware that changes nothing."""
    return await call_next(call)


class Passing(Middleware):
    """A middleware that returns lists unchanged."""

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)
