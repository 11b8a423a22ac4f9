"""The contracts of middleware and commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard import NotFoundError, ToolResult
from pegboard.plugin import Command, Middleware, Plugin
from pegboard.testing import CommandContract, MiddlewareContract
from pegboard.types import Call, CallNext, Listing, Tool
from pegboard_plugins.audit import AuditConfig, AuditPlugin
from pegboard_plugins.logging import LoggingConfig, LoggingPlugin
from pegboard_plugins.rate_limit import RateLimitConfig, RateLimitPlugin
from pegboard_plugins.response_size import ResponseSizeConfig, ResponseSizePlugin
from pegboard_plugins.scopes import ScopesConfig, ScopesPlugin
from pegboard_plugins.timing import TimingConfig, TimingPlugin
from pegboard_plugins.worker import WorkerConfig, WorkerPlugin
from tests.host.testing.contracts.faulty import Faults, broken, contract_tests, then, variant

BUILT_IN: list[tuple[type[Any], type[Any], dict[str, Any]]] = [
    (LoggingPlugin, LoggingConfig, {}),
    (TimingPlugin, TimingConfig, {}),
    (RateLimitPlugin, RateLimitConfig, {"calls_per_minute": 1, "burst": 1, "local": True}),
    (ResponseSizePlugin, ResponseSizeConfig, {"warn_bytes": 1}),
    (ScopesPlugin, ScopesConfig, {"tools": {"contract_*": ["read", "write"]}}),
    (AuditPlugin, AuditConfig, {"file": "audit.jsonl"}),
]


@pytest.mark.parametrize(("plugin", "config", "settings"), BUILT_IN)
def test_built_in_middleware_keeps_the_contract(
    plugin: type[Any], config: type[Any], settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def make() -> Middleware:
        made: Plugin = plugin(config.model_validate(settings))
        (middleware,) = made.register_middleware()  # type: ignore[attr-defined]
        return middleware  # type: ignore[no-any-return]

    assert broken(MiddlewareContract, make) == {}


async def untyped(self: Any, call: Call, call_next: CallNext) -> Any:
    try:
        return await call_next(call)
    except NotFoundError as error:
        raise KeyError(call.method) from error


async def shield(self: Any, call: Call, call_next: CallNext) -> Any:
    try:
        return await call_next(call)
    except asyncio.CancelledError:
        return ToolResult()


async def repeat(self: Any, call: Call, call_next: CallNext) -> Any:
    await call_next(call)
    return await call_next(call)


async def mix(self: Any, call: Call, call_next: CallNext) -> Any:
    self.last = call
    await asyncio.sleep(0)
    return await call_next(self.last)


async def reject(self: Any, call: Call, call_next: CallNext) -> Any:
    raise ValueError(call.method)


async def add(self: Any, call: Call, call_next: CallNext) -> Any:
    return Listing("tools", (Tool(name="new", description="New.", input_schema={}),))


def change(self: Any, call: Any, call_next: CallNext) -> Any:
    call.params["arguments"] = {}
    return call_next(call)


def lose(self: Any, call: Call, call_next: CallNext) -> Any:
    return then(call_next(call), lambda outcome: None)


FAULTS: Faults = [
    (variant(Middleware, name=" "), "test_its_name_is_valid"),
    (variant(Middleware, assembled=lambda self, inventory: [None]), "test_it_accepts_an_inventory"),
    (variant(Middleware, view=lambda self, call: object()), "test_wants_and_view_are_valid"),
    (variant(Middleware, on_call_tool=lose), "test_each_call_ends_with_an_outcome"),
    (variant(Middleware, on_request=untyped), "test_an_error_of_the_call_stays_typed"),
    (variant(Middleware, on_message=shield), "test_a_cancelled_call_ends"),
    (variant(Middleware, on_request=repeat), "test_a_call_that_succeeded_is_not_repeated"),
    (variant(Middleware, on_get_prompt=change), "test_the_parameters_of_a_call_are_not_changed"),
    (variant(Middleware, on_request=mix), "test_concurrent_calls_are_independent"),
    (variant(Middleware, on_list_tools=add), "test_lists_keep_their_kind_and_get_no_new_names"),
    (variant(Middleware, on_notification=reject), "test_notifications_are_accepted"),
]
test_faulty_middleware_breaks_the_rule, test_sound_middleware_breaks_no_rule = contract_tests(
    MiddlewareContract, Middleware, FAULTS
)


class TestWorkerToken(CommandContract):
    def make(self) -> Command:
        secret = "0123456789abcdef-a-secret-of-the-tests"
        (command,) = WorkerPlugin(WorkerConfig.model_validate({"secret": secret})).register_commands()
        return command

    def lines(self) -> Sequence[str]:
        return ["", "--seconds 5"]

    def invalid_lines(self) -> Sequence[str]:
        return ["--seconds x", "--seconds 0", "extra"]
