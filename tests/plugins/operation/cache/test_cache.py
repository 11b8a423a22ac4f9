"""The cache: which calls share a result, and what is never kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from pegboard import Authorization, Context, Host, RetryableToolError, ToolAnnotations, Toolkit, ToolResult, tool
from pegboard.plugin import ToolDefinition, around
from pegboard.types import LOCAL, Caller, Client, Supplied
from pegboard_plugins.operation import cache
from pegboard_plugins.operation.cache import CachePlugin
from pegboard_testing import connect
from tests.host.hosting import call, kit_of, make_host, passing, plugin_of, until, value
from tests.support.schemas import LEGACY, MODERN

SAFE = ToolAnnotations(read_only=True, idempotent=True)
ANN, BOB = Caller("ann"), Caller("bob")


class Calls(Counter[str]):
    """The calls of each tool. `gate` holds calls of `slow`."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.fails = False

    def add(self, name: str) -> int:
        self[name] += 1
        return self[name]


def make_kit(calls: Calls) -> Toolkit:
    def fails() -> ToolResult:
        return ToolResult(str(calls.add("fails")), is_error=True)

    async def slow() -> int:
        count = calls.add("slow")
        await calls.gate.wait()
        if calls.fails:
            raise RetryableToolError("no")
        return count

    async def tells(context: Context) -> int:
        await context.progress.report(1)
        return calls.add("tells")

    async def asks(context: Context) -> int:
        await context.ui.elicit("Sure?")
        return calls.add("asks")

    async def outer(context: Context) -> Any:
        return await context.tools.call("safe")

    def count(name: str, hints: ToolAnnotations) -> None:
        @kit.tool(name=name, annotations=hints)
        def counts(what: Any = None) -> int:
            """Count."""
            return calls.add(name)

    kit = kit_of(fails, slow, tells, asks, annotations=SAFE)
    kit.tool(description="Call another tool.")(outer)
    count("safe", SAFE)
    count("reads", ToolAnnotations(read_only=True))
    count("repeats", ToolAnnotations(idempotent=True))
    return kit


def hosting(calls: Calls, **settings: Any) -> Host:
    return make_host(make_kit(calls), plugins={"cached": CachePlugin}, config={"plugins": {"cached": settings}})


async def counts(host: Host, name: str, *fields: dict[str, Any]) -> list[Any]:
    """Return the results of one call for each set of fields."""
    results = []
    for options in fields:
        arguments = options.pop("arguments", {})
        results.append(await value(host, name, arguments, **options))
    return results


async def test_equal_calls_of_a_caller_share_a_result() -> None:
    async with hosting(Calls()) as host:
        assert await counts(host, "safe", {"caller": ANN}, {"caller": ANN}, {"caller": LOCAL}, {}) == [1, 1, 2, 2]
        for name in ("reads", "repeats"):
            assert await counts(host, name, {"caller": ANN}, {"caller": ANN}) == [1, 2]
        assert await counts(host, "outer", {}, {}) == [3, 4]


SHARED, APART, NEVER = [1, 1, 1, 1], [1, 2, 1, 2], [1, 2, 3, 4]
GIVEN, ODD = Supplied(Authorization("t")), ANN._replace(extra={"x": object()})


@pytest.mark.parametrize(
    ("first", "second", "results"),
    [
        ({"caller": ANN}, {"caller": ANN._replace(expires_at=9e9)}, SHARED),
        ({"caller": ANN}, {"caller": BOB}, APART),
        ({"caller": ANN}, {"caller": ANN._replace(scopes=frozenset("a"))}, APART),
        ({"caller": ANN}, {"caller": ANN._replace(issuer="https://b.example")}, APART),
        ({"caller": ANN}, {"caller": ANN._replace(extra={"team": 1})}, APART),
        ({"session_id": "1"}, {"session_id": "2"}, APART),
        ({"caller": Caller(), "session_id": "1"}, {"caller": Caller(), "session_id": "2"}, APART),
        ({"client": Client("a")}, {"client": Client("b")}, APART),
        ({"client": Client()}, {"client": Client(capabilities={"sampling": {}})}, APART),
        ({"arguments": {"what": 1}}, {"arguments": {"what": True}}, APART),
        ({"arguments": {"what": 1}}, {"arguments": {"what": "1"}}, APART),
        ({"caller": Caller()}, {"caller": Caller()}, NEVER),
        ({"caller": ANN, "supplied": GIVEN}, {"caller": ANN, "supplied": GIVEN}, NEVER),
        ({"caller": ODD}, {"caller": ODD}, NEVER),
    ],
)
async def test_calls_share_a_result(first: dict[str, Any], second: dict[str, Any], results: list[int]) -> None:
    async with hosting(Calls()) as host:
        assert await counts(host, "safe", {**first}, {**second}, {**first}, {**second}) == results


async def test_errors_are_not_cached() -> None:
    calls = Calls()
    async with hosting(calls) as host:
        for _ in range(2):
            await call(host, "fails", caller=ANN)
    assert calls["fails"] == 2


@pytest.mark.parametrize("revision", [LEGACY[-1], MODERN[-1]])
@pytest.mark.parametrize(("name", "expected"), [("tells", 2), ("asks", 2), ("safe", 1)])
async def test_a_call_that_talks_to_its_client_is_not_cached(name: str, expected: int, revision: str) -> None:
    calls = Calls()
    made = connect(make_kit(calls), hostconfig={"plugins": {"cache": {}}}, revision=revision, answers=[{}, {}])
    async with made as client:
        for _ in range(2):
            await client.call(name)
    assert calls[name] == expected


@pytest.mark.parametrize("fails", [False, True])
async def test_equal_calls_at_once_run_once_unless_the_first_fails(fails: bool) -> None:
    calls = Calls()
    calls.fails = fails
    async with hosting(calls) as host:
        tasks = [asyncio.create_task(call(host, "slow", caller=caller)) for caller in (ANN, ANN, ANN, BOB)]
        await until(lambda: calls["slow"] == 2)
        calls.gate.set()
        await asyncio.gather(*tasks)
    assert calls["slow"] == (4 if fails else 2)


async def test_calls_that_waited_for_one_that_failed_run_at_once() -> None:
    calls = Calls()
    calls.fails = True
    async with hosting(calls) as host:
        tasks = [asyncio.create_task(call(host, "slow", caller=ANN)) for _ in range(3)]
        await until(lambda: calls["slow"] == 1)
        calls.gate.set()
        calls.gate.clear()  # only the first call has passed
        await until(lambda: calls["slow"] == 3)
        calls.gate.set()
        await asyncio.gather(*tasks)


async def test_a_cancelled_call_does_not_cancel_equal_calls() -> None:
    calls = Calls()
    async with hosting(calls) as host:
        first, second, third = [asyncio.create_task(call(host, "slow", caller=ANN)) for _ in range(3)]
        await until(lambda: calls["slow"] == 1)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        first.cancel()
        await until(lambda: calls["slow"] == 2)
        calls.gate.set()
        assert (await third).value == 2  # type: ignore[union-attr]
        assert await counts(host, "slow", {"caller": ANN}) == [2]  # the third call took over


async def test_results_expire_and_old_ones_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(cache, "monotonic", lambda: now)
    async with hosting(Calls(), max_results=2, ttl_seconds=10) as host:
        fields = [{"arguments": {"what": what}} for what in "ab"]
        assert await counts(host, "safe", *map(dict, fields)) == [1, 2]
        assert await counts(host, "safe", {"arguments": {"what": "a"}}, {"arguments": {"what": "c"}}) == [1, 3]
        assert await counts(host, "safe", {"arguments": {"what": "b"}}, {"arguments": {"what": "c"}}) == [4, 3]
        now = 10.0
        assert await counts(host, "safe", {"arguments": {"what": "c"}}) == [5]


async def test_the_size_is_bounded() -> None:
    big = {"what": "x" * 600}
    async with hosting(Calls(), max_bytes=1000) as host:
        assert await counts(host, "safe", {"arguments": big}, {"arguments": big}) == [1, 1]
        assert await counts(host, "safe", {"arguments": {"what": "y" * 600}}, {"arguments": big}) == [2, 3]
        huge = {"what": "z" * 1000}
        assert await counts(host, "safe", {"arguments": huge}, {"arguments": huge}) == [4, 5]
        assert await counts(host, "safe", {"arguments": big}) == [3]


SIZES: list[tuple[Any, int]] = [
    (["x" * 1000], 1),
    ({"a": ["x" * 500], "y" * 500: 1}, 1),
    ([0] * 1000, 1),
    ({str(number): 0 for number in range(100)}, 1),
    (["x" * 10] * 10, 0),
]


@pytest.mark.parametrize(("made", "again"), SIZES, ids=["text", "nested", "items", "members", "small"])
async def test_large_results_are_not_cached(made: Any, again: int) -> None:
    calls = Calls()

    def make() -> Any:
        calls.add("make")
        return ToolResult(made)

    kit = kit_of(make, annotations=SAFE, max_result=0)
    config = {"plugins": {"cached": {"max_result_bytes": 1000}}}
    async with make_host(kit, plugins={"cached": CachePlugin}, config=config) as host:
        for _ in range(2):
            await call(host, "make", caller=ANN)
    assert calls["make"] == 1 + again


async def test_a_changed_tool_has_no_results() -> None:
    def answer(text: str) -> Any:
        return tool(name="answer", description="Answer.", annotations=SAFE)(lambda: text)

    async with hosting(Calls()) as host:
        host.catalogue.add(answer("old").definition)
        assert await counts(host, "answer", {}, {}) == ["old", "old"]
        host.catalogue.update(answer("new").definition)
        assert await counts(host, "answer", {}) == ["new"]


async def test_tools_can_be_selected() -> None:
    async with hosting(Calls(), tools=["safe", "nope*", "re*", "[st]*", "outer"]) as host:
        assert await counts(host, "safe", {}, {}) == [1, 1]
        assert [str(problem).partition(", assemble: ")[2] or str(problem) for problem in host.problems] == [
            f"plugin 'cached': tools: {problem}"
            for problem in (
                "no tool matches 'nope*'",
                "'re*' matches no tool that declares both read_only and idempotent",
                "'outer' matches no tool that declares both read_only and idempotent",
            )
        ]
    async with hosting(Calls(), tools=["slow"]) as host:
        assert await counts(host, "safe", {}, {}) == [1, 2]


def test_the_cache_runs_inside_all_other_middleware() -> None:
    plugins = {"cached": CachePlugin, "zeta": plugin_of(middleware=[around("tools/call", name="zeta")(passing)])}
    host = make_host(plugins=plugins, middleware=["cached"])
    assert [link.name for link in host.load().middleware] == ["zeta", "cached"]


async def test_the_hints_of_another_server_do_not_enable_the_cache() -> None:
    calls = Calls()

    async def count(arguments: dict[str, Any], context: Context) -> int:
        return calls.add("far")

    hints = {"readOnlyHint": True, "idempotentHint": True}
    far = ToolDefinition(count, name="far", raw={"inputSchema": {"type": "object"}, "annotations": hints})
    async with make_host(plugins={"cached": CachePlugin, "mounts": plugin_of(tools=[far])}) as host:
        assert await counts(host, "far", {}, {}) == [1, 2]
