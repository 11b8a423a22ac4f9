"""Hosts in the process of the test, without installed plugins and toolkits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from pegboard import Host, ToolResult
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin import Middleware, Plugin, PluginContext, ToolDefinition, hookimpl
from pegboard.toolkit import Toolkit
from pegboard.types import Call, Failure, Outcome
from tests.support import peer

WAIT = peer.WAIT
"""The seconds after which a waiting test fails."""


async def until(true: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds that no event of the loop announces."""
    async with asyncio.timeout(WAIT):
        while not true():  # noqa: ASYNC110 - what is waited for may happen in a thread
            await asyncio.sleep(0)


def plugin_context(plugin: LoadedPlugin, config: Any, log: logging.Logger) -> PluginContext:
    """Return the context of a plugin's hooks without a running host."""
    return PluginContext(plugin.origin.name, config, log, Host().catalogue)


def make_host(
    *kits: Toolkit,
    plugins: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **host: Any,
) -> Host:
    """Return a host with these toolkits and plugins. It is not started.

    Args:
        kits: toolkits, under their own names.
        plugins: plugins by name.
        config: sections in addition to `[host]`.
        host: keys of `[host]`.
    """
    disabled = ["pegboard:*", *host.pop("disabled_plugins", [])]
    section = {"autoload": False, "disabled_plugins": disabled, **host}
    return Host({"host": section, **(config or {})}, plugins=plugins, toolkits={kit.name: kit for kit in kits})


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


def plugin_of(*, tools: Any = (), middleware: Any = (), stores: Any = ()) -> type[Plugin]:
    """Return a plugin with these contributions."""

    class Contributor(Plugin):
        @hookimpl
        def register_tools(self) -> list[ToolDefinition]:
            return list(tools)

        @hookimpl
        def register_middleware(self) -> list[Middleware]:
            return list(middleware)

        @hookimpl
        def register_secret_stores(self) -> list[Any]:
            return list(stores)

    return Contributor
