"""The contracts of middleware and commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from pegboard import NotFoundError, TextContent, ToolAnnotations, ToolResult
from pegboard.loading.fact_models import Argument, CommandFacts
from pegboard.plugin import CommandContext, Middleware, Plugin, as_tool_result
from pegboard.terminal import print_json, print_table
from pegboard.types import LOCAL, Call, CallNext, Inventory, Listing, RawResult, Tool
from pegboard_plugins.auth.scopes import ScopesConfig, ScopesPlugin
from pegboard_plugins.operation.audit import AuditConfig, AuditPlugin
from pegboard_plugins.operation.cache import CacheConfig, CachePlugin
from pegboard_plugins.operation.logging import LoggingConfig, LoggingPlugin
from pegboard_plugins.operation.rate_limit import RateLimitConfig, RateLimitPlugin
from pegboard_plugins.operation.response_size import ResponseSizeConfig, ResponseSizePlugin
from pegboard_plugins.operation.timing import TimingConfig, TimingPlugin
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_testing import CommandContract, MiddlewareContract
from pegboard_testing.contracts.command_contract import CheckedCommand
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, broken, then, variant

BUILT_IN: list[tuple[type[Any], type[Any], dict[str, Any]]] = [
    (LoggingPlugin, LoggingConfig, {}),
    (TimingPlugin, TimingConfig, {}),
    (RateLimitPlugin, RateLimitConfig, {"calls_per_minute": 1, "burst": 1, "local": True}),
    (ResponseSizePlugin, ResponseSizeConfig, {"warn_bytes": 1}),
    (ScopesPlugin, ScopesConfig, {"tools": {"contract_*": ["read", "write"]}}),
    (AuditPlugin, AuditConfig, {"file": "audit.jsonl"}),
    (CachePlugin, CacheConfig, {}),
]


@pytest.mark.parametrize(("plugin", "config", "settings"), BUILT_IN)
def test_built_in_middleware_keeps_the_contract(
    plugin: type[Any], config: type[Any], settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def make() -> Middleware:
        made: Plugin = plugin(config.model_validate(settings))
        hook: Callable[..., Iterable[Middleware]] = made.register_middleware  # type: ignore[attr-defined]
        (middleware,) = hook(**dict.fromkeys(signature(hook).parameters))  # no store is named, so no context is used
        return middleware

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


def as_operator(self: Any, call: Call, call_next: CallNext) -> Any:
    return call_next(call._replace(caller=LOCAL))


def change(self: Any, call: Any, call_next: CallNext) -> Any:
    call.params["arguments"] = {}
    return call_next(call)


def lose(self: Any, call: Call, call_next: CallNext) -> Any:
    return then(call_next(call), lambda outcome: None)


def changing(kind: type[Any], change: Callable[[Any], Any]) -> Any:
    """Return middleware that changes the results of one type."""

    def run(self: Any, call: Call, call_next: CallNext) -> Any:
        return then(call_next(call), lambda outcome: change(outcome) if isinstance(outcome, kind) else outcome)

    return variant(Middleware, on_call_tool=run)


def keeping(key_of: Callable[[Call], Any], *, read_only: bool = False) -> Any:
    """Return middleware that keeps results of tools by a key, perhaps only of tools that are read-only."""

    def assembled(self: Any, inventory: Inventory) -> list[str]:
        tools = inventory.tools.values()
        self.kept = {tool.name: {} for tool in tools if not read_only or (tool.annotations or EMPTY).read_only}
        return []

    async def run(self: Any, call: Call, call_next: CallNext) -> Any:
        kept, key = self.kept.get(call.params["name"], {}), key_of(call)
        kept[key] = kept.get(key) or await call_next(call)
        return kept[key]

    return variant(Middleware, assembled=assembled, on_call_tool=run)


EMPTY = ToolAnnotations()
BYE = TextContent("Bye.")
LOSSES: list[Any] = [
    changing(ToolResult, lambda result: result._replace(content=(*(result.content or ()), BYE))),
    changing(ToolResult, lambda result: result._replace(content=result.content and (*result.content[:1], BYE))),
    changing(ToolResult, lambda result: result._replace(structured=False)),
    changing(ToolResult, lambda result: result._replace(is_error=False)),
    changing(RawResult, lambda result: ToolResult(content=as_tool_result(result).content)),
    changing(RawResult, lambda result: RawResult({**result.value, "content": []})),
]
"""Middleware that loses text, an image, structured content, an error, and the parts of a result of a mounted server."""

FAULTS: Faults = [
    *((loss, "test_clients_receive_the_result_of_a_tool") for loss in LOSSES),
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
    (variant(Middleware, on_request=as_operator), "test_concurrent_calls_are_independent"),
    (variant(Middleware, on_notification=reject), "test_notifications_are_accepted"),
    (keeping(lambda call: str(call.params)), "test_each_caller_gets_its_own_result"),
    (keeping(lambda call: call.caller.subject), "test_each_caller_gets_its_own_result"),
    (keeping(lambda call: str(call.params), read_only=True), "test_each_caller_gets_its_own_result"),
]


def times(command: CommandContext) -> int:
    if command.options.times < 1:
        raise NotFoundError("--times must be 1 or more.")
    command.print(str(command.options.file * command.options.times))
    print_json({"times": command.options.times})
    print_table([["file", command.options.file]])
    return 0


def prints(command: CommandContext) -> int:
    print(command.options.file)
    return 0


FILE = Argument(name="file", help="the file")
COPY = CheckedCommand(
    "copy",
    CommandFacts(
        summary="Copy a file.",
        run="acme:copy",
        arguments=(FILE, Argument(name="--times", help="how often", type="integer", default=1)),
        examples=("pegboard copy a.txt --times 2",),
    ),
    times,
)


def copy(**fields: Any) -> Callable[[], CheckedCommand]:
    """Return a function that returns the command with other fields."""
    own = {key: value for key, value in fields.items() if key in CheckedCommand._fields}
    facts = {key: value for key, value in fields.items() if key not in own}
    return lambda: COPY._replace(facts=COPY.facts.model_copy(update=facts), **own)


COMMANDS: Faults = [
    (copy(name="Copy File", examples=()), "test_its_name_and_summary_are_valid"),
    (copy(summary="Copy\na file."), "test_its_name_and_summary_are_valid"),
    (copy(arguments=(FILE.model_copy(update={"help": ""}),), examples=()), "test_its_arguments_have_help"),
    (copy(examples=("pegboard copy a.txt --often",)), "test_its_examples_are_valid"),
    (copy(examples=("pegboard move a.txt",)), "test_its_examples_are_valid"),
    (copy(run=lambda command: None), "test_it_returns_an_exit_code"),
    (copy(run=prints), "test_it_returns_an_exit_code"),
    (copy(run=lambda command: sys.exit(1)), "test_it_returns_an_exit_code"),
    (copy(run=lambda command: command.print(command.options.times) or 0), "test_it_returns_an_exit_code"),
    (copy(run=lambda command: 0), "test_invalid_arguments_are_rejected"),
    (copy(run=lambda command: [0][command.options.times and 0]), "test_invalid_arguments_are_rejected"),
]
ARGUMENTS = {"lines": lambda self: ["a.txt", "a.txt --times 3"], "invalid_lines": lambda self: ["", "a.txt --times 0"]}
MUTANTS = [
    Mutants(MiddlewareContract, Middleware, FAULTS),
    Mutants(MiddlewareContract, keeping(lambda call: call.caller.identity), []),
    Mutants(CommandContract, copy(), COMMANDS, ARGUMENTS),
]


class TestWorkerToken(CommandContract):
    module = "pegboard_plugins.protocols.worker"
    name = "token"
    settings = WorkerConfig.model_validate({"secret": "0123456789abcdef-a-secret-of-the-tests"})

    def lines(self) -> Sequence[str]:
        return ["", "--seconds 5"]

    def invalid_lines(self) -> Sequence[str]:
        return ["--seconds x", "--seconds 0", "extra"]
