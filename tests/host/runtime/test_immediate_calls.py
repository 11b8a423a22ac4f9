"""Calls that end without waiting."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Outcome
from tests.host.hosting import make_host, plugin_of

kit = Toolkit("x")


class Waiting(Middleware):
    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


class Quick(Waiting):
    waits = False


class Choosing(Waiting):
    def wants(self, call: Call) -> bool:
        return bool(call.params["wanted"])


class Listing(Middleware):
    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


class Messages(Middleware):
    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


@kit.tool(inline=True)
def inline() -> int:
    """Return a number."""
    return 1


@kit.tool(inline=True, requires_secrets=["XTOKEN"])
def guarded() -> int:
    """Return a number."""
    return 1


@kit.tool
def in_thread() -> int:
    """Return a number."""
    return 1


@kit.tool
async def waiting() -> int:
    """Return a number."""
    return 1


@pytest.mark.parametrize(
    ("method", "name", "is_immediate"),
    [
        ("tools/call", "x_inline", True),
        ("tools/list", None, True),
        ("prompts/list", None, True),
        ("prompts/get", "x_inline", False),
        ("tools/call", "x_guarded", False),
        ("tools/call", "x_in_thread", False),
        ("tools/call", "x_waiting", False),
        ("tools/call", "x_unknown", False),
        ("tools/call", ["x_inline"], False),
    ],
)
async def test_only_lists_and_calls_of_unguarded_inline_tools_are_immediate(
    method: str, name: object, is_immediate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.runtime.immediate_calls.MEDIA_TYPES", set())  # other tests import files
    async with make_host(kit) as host:
        assert host.is_immediate(Call(method, {"name": name})) is is_immediate


@pytest.mark.parametrize(
    ("middleware", "params", "files", "is_immediate"),
    [
        (Listing(), {}, set(), True),
        (Listing(), {}, {bytes}, False),
        (Waiting(), {}, set(), False),
        (Quick(), {}, set(), True),
        (Choosing(), {"wanted": False}, set(), True),
        (Choosing(), {"wanted": True}, set(), False),
        (Choosing(), {}, set(), False),
    ],
    ids=["of lists", "files", "waiting", "quick", "not wanted", "wanted", "broken"],
)
async def test_a_call_is_immediate_unless_middleware_wants_it_or_files_are_read(
    middleware: Middleware,
    params: dict[str, Any],
    files: set[type],
    is_immediate: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.runtime.immediate_calls.MEDIA_TYPES", files)
    async with make_host(kit, plugins={"m": plugin_of(middleware=[middleware])}) as host:
        assert host.is_immediate(Call("tools/call", {"name": "x_inline", **params})) is is_immediate


@pytest.mark.parametrize(
    ("middleware", "lists"),
    [
        (Listing(), False),
        (Quick(), True),
        (Waiting(), True),
        (Messages(), False),
    ],
    ids=["of lists", "of quick calls", "of calls", "of messages"],
)
async def test_a_list_is_immediate_unless_middleware_filters_or_delays_it(middleware: Middleware, lists: bool) -> None:
    async with make_host(kit, plugins={"m": plugin_of(middleware=[middleware])}) as host:
        assert host.is_immediate(Call("tools/list")) is lists
