"""Checks of the configuration, of docstrings, and of all that a server would open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

from pegboard.catalogue.store_selection import StoreKey, Stores
from pegboard.catalogue.tool_compiler import definition_label, location_of, unknown_parameters
from pegboard.cli.command_config import ignored_settings
from pegboard.cli.host_setup import NO_TRANSPORT
from pegboard.config.state import STATE_VARIABLE, path_and_reason
from pegboard.errors import ConfigError, MCPError, ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.hookspecs import register_prompts, register_tools
from pegboard.host import Host
from pegboard.loading.discovery import untested_platform
from pegboard.loading.plugins import OF_SETTINGS
from pegboard.names import nearest
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.routing import operator_token
from pegboard.runtime.open_stores import OpenStores
from pegboard.runtime.supervisor import chosen_transports
from pegboard.schemas.functions import parameters_of

_OTHER_STATE = f"set {STATE_VARIABLE} to a directory that you can write"
_PROBE = "PEGBOARD_DOCTOR"
"""The name of a secret that no store has."""


def check_configuration(command: CommandContext) -> Iterator[Finding]:
    """Report each problem of the configuration, and of the settings of plugins and toolkits."""
    for problem in command.host.config.problems:
        yield Finding("error", str(problem), problem=problem)
    for load_problem in command.host.problems:
        if load_problem.stage == OF_SETTINGS:
            yield Finding(load_problem.level, str(load_problem), problem=load_problem)


def check_environment(command: CommandContext) -> Iterator[Finding]:
    """Report an untested platform, and variables that resemble settings but have no effect."""
    if untested := untested_platform():
        yield Finding("warning", untested)
    for problem in ignored_settings(command.host.config, os.environ):
        yield Finding("warning", str(problem), problem=problem)


def check_transports(command: CommandContext) -> Iterator[Finding]:
    """Report why `pegboard serve` would not open its transports."""
    names = command.host.config.host.transports
    if not names:
        yield Finding("error", NO_TRANSPORT)
    for name in names:
        try:
            (transport,) = chosen_transports(command.host.assembly.transports, [name])
            transport.check(command.host.for_transports)
        except MCPError as error:
            for problem in getattr(error, "problems", None) or str(error).splitlines():
                yield Finding("error", str(problem), problem=problem)


def check_operator_token(command: CommandContext) -> Iterator[Finding]:
    """Report an operator token that `pegboard serve` would refuse, or could not create."""
    try:
        operator_token.check_operator_token(os.environ)
    except ConfigError as error:
        for problem in error.problems:
            yield Finding("error", str(problem), problem=problem)
    except OSError as error:
        yield Finding("warning", f"there is no operator token: {path_and_reason(error)}", _OTHER_STATE)


def check_docstrings(command: CommandContext) -> Iterator[Finding]:
    """Report parameters that the docstring of a tool or prompt describes and its function does not have."""
    return docstring_findings(command.host)


def docstring_findings(host: Host) -> Iterator[Finding]:
    """Yield the findings of `check_docstrings` for a loaded host."""
    for plugin in host.report.plugins:
        for hook in (register_tools, register_prompts):
            for definition in () if plugin.is_late else plugin.contributed(hook):
                yield from _unknown_parameters(definition)


def _unknown_parameters(definition: Any) -> Iterator[Finding]:
    try:
        unknown = unknown_parameters(definition)
    except ToolDefinitionError:  # the check of plugins reports it
        return
    for name in unknown:
        close = nearest(name, [parameter.name for parameter in parameters_of(definition.function)])
        fix = f"did you mean {close!r}?" if close else "remove it, or add the parameter"
        where = f"{definition_label(definition)}{location_of(definition.function)}"
        yield Finding("warning", f"{where}: its docstring describes {name!r}, which is not a parameter", fix)


def check_stores(command: CommandContext) -> Iterator[Finding]:
    """Report stores of secrets, sessions and events that cannot be opened or read."""
    for origin, store in command.host.assembly.secrets.stores:
        try:
            attempt(store.get, _PROBE)
        except ToolDefinitionError as error:
            yield Finding("error", f"the secret store of {origin} cannot be read: {error}")
    yield from _store_findings(command.host)


def check_memory_stores(command: CommandContext) -> Iterator[Finding]:
    """Report stores that the processes cannot use. Only stores in the memory of the process are opened."""
    return _store_findings(command.host, only_memory=True)


def _store_findings(host: Host, *, only_memory: bool = False) -> Iterator[Finding]:
    stores, available = host.assembly.stores, host.assembly.transports
    workers = max((available[name].workers for name in host.config.host.transports if name in available), default=1)

    async def problems() -> list[str]:
        async with OpenStores(claims=False, workers=workers) as opened:
            found = [await _store_problem(opened, stores, key, only_memory=only_memory) for key in stores]
            return list(filter(None, found))

    for problem in asyncio.run(problems()):
        yield Finding("error", problem)


async def _store_problem(opened: OpenStores, stores: Stores, key: StoreKey, *, only_memory: bool) -> str:
    try:
        opened.check(stores[key], key)
        if stores[key][1].in_memory or not only_memory:
            await opened.open_all({key: stores[key]})
    except MCPError as error:
        return str(error)
    return ""
