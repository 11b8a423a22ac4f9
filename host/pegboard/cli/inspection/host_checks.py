"""Checks of the configuration, and of all that a server would open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

from pegboard.cli.command_config import ignored_settings
from pegboard.cli.host_setup import NO_TRANSPORT
from pegboard.config.state import STATE_VARIABLE, path_and_reason
from pegboard.errors import ConfigError, MCPError, ToolDefinitionError
from pegboard.errors.attempts import attempt
from pegboard.hookspecs import register_authenticators
from pegboard.loading.plugins import OF_SETTINGS, SECTION_OF_KIND
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.routing import operator_token
from pegboard.routing.bearer import SECRET_BYTES, is_weak_secret
from pegboard.runtime.open_stores import OpenStores
from pegboard.runtime.supervisor import chosen_transports

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
    """Report variables that resemble settings but have no effect."""
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


def check_tokens(command: CommandContext) -> Iterator[Finding]:
    """Report tokens and secrets of authenticators that others can guess."""
    for plugin in command.host.report.plugins:
        if isinstance(plugin.context.config, BaseModel) and plugin.contributed(register_authenticators):
            for key, secret in _secrets(plugin.context.config):
                if is_weak_secret(secret):
                    section = f"[{SECTION_OF_KIND[plugin.origin.kind]}.{plugin.origin.name}]"
                    fix = f"use {SECRET_BYTES} random bytes: python -c 'import secrets; print(secrets.token_urlsafe())'"
                    if key.endswith("client_secret"):
                        fix = "create a new secret at the server that issued it"
                    yield Finding("warning", f"{key} of {section} is weak: others can guess it", fix)


def check_stores(command: CommandContext) -> Iterator[Finding]:
    """Report stores of secrets, sessions and events that cannot be opened or read."""
    for origin, store in command.host.assembly.secrets.stores:
        try:
            attempt(store.get, _PROBE)
        except ToolDefinitionError as error:
            yield Finding("error", f"the secret store of {origin} cannot be read: {error}")

    async def open_all() -> None:
        async with OpenStores(claims=False) as stores:
            await stores.open_all(command.host.assembly.stores)

    try:
        asyncio.run(open_all())
    except MCPError as error:
        yield Finding("error", str(error))


def _secrets(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each secret of a settings model, with its key."""
    if isinstance(value, SecretStr):
        yield key, value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name), f"{key}.{name}".removeprefix("."))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _secrets(inner, f"{key}.{name}")
