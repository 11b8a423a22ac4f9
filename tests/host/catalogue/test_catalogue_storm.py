"""A catalogue that many threads change at once, while its lists are read and its tools are called."""

from __future__ import annotations

import asyncio
import base64
import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard import Context, Host, NotFoundError, ToolDefinitionError, ToolResult
from pegboard.catalogue import binding
from pegboard.catalogue.tool_compiler import compile_tool
from pegboard.plugin import ProtocolError, ToolDefinition
from pegboard.types import Call, Change, Failure, Listing
from tests.host.hosting import WAIT, call, make_host, until, value

THREADS = 4
ROUNDS = 15


def tool(name: str, function: Callable[..., Any] | None = None) -> ToolDefinition:
    def say() -> str:
        """Say the name."""
        return name

    return ToolDefinition(function or say, name=name)


async def all_pages(host: Host) -> list[str]:
    names: list[str] = []
    params: dict[str, str] = {}
    while True:
        outcome = await host.dispatch(Call("tools/list", params))
        assert isinstance(outcome, Listing)
        names += [item.name for item in outcome.items]
        if outcome.next_cursor is None:
            return names
        params = {"cursor": outcome.next_cursor}
        await asyncio.sleep(0)


def change_for_a_while(host: Host, number: int, failures: list[BaseException]) -> None:
    try:
        for turn in range(ROUNDS):
            name = f"t{number}_{turn}"
            host.catalogue.add(tool(name), tool(f"{name}_gone"))
            host.catalogue.update(tool(name))
            host.catalogue.remove("tools", f"{name}_gone")
    except BaseException as error:  # noqa: BLE001 - told to the test
        failures.append(error)


async def test_threads_change_it_at_once_while_it_is_read_and_called() -> None:
    failures: list[BaseException] = []
    heard: list[Change] = []
    always = [f"always{number}" for number in range(10)]
    async with make_host(page_size=3) as host:
        host.catalogue.add(*map(tool, always))
        host.watch(heard.append)
        threads = [threading.Thread(target=change_for_a_while, args=(host, n, failures)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            names = await all_pages(host)
            assert names == sorted(set(names))
            assert set(always) <= set(names)
            assert await value(host, "always3") == "always3"
        await until(lambda: len(heard) == THREADS * ROUNDS * 3)
        assert failures == []
        expected = sorted([*always, *(f"t{n}_{turn}" for n in range(THREADS) for turn in range(ROUNDS))])
        assert await all_pages(host) == list(host.assembly.tools) == expected
        assert host.assembly.forms.keys() == host.assembly.origins["tools"].keys() == host.assembly.tools.keys()
    assert set(heard) == {Change("tools")}


async def test_of_all_who_add_one_name_at_once_one_does() -> None:
    results: Counter[str] = Counter()
    start = threading.Barrier(THREADS)

    def add() -> None:
        start.wait(WAIT)
        try:
            host.catalogue.add(tool("one"))
            results["added"] += 1
        except ToolDefinitionError:
            results["refused"] += 1

    async with make_host() as host:
        await asyncio.gather(*(asyncio.to_thread(add) for _ in range(THREADS)))
    assert results == {"added": 1, "refused": THREADS - 1}


async def test_calls_in_flight_end_well_however_often_their_tool_goes_and_comes() -> None:
    go = asyncio.Event()
    began: list[int] = []

    def waiting(number: int) -> ToolDefinition:
        async def wait() -> int:
            """Wait."""
            began.append(number)
            await go.wait()
            return number

        return tool("wait", wait)

    async with make_host() as host:
        tasks = []
        for number in range(20):
            host.catalogue.add(waiting(number))
            tasks.append(asyncio.create_task(call(host, "wait")))
            await until(lambda number=number: number in began)  # type: ignore[misc]
            host.catalogue.remove("tools", "wait")
        assert isinstance(await call(host, "wait"), Failure)
        go.set()
        assert [one.value for one in await asyncio.gather(*tasks) if isinstance(one, ToolResult)] == list(range(20))


async def test_a_tool_may_add_and_remove_tools_and_itself() -> None:
    async with make_host() as host:

        def once(context: Context) -> str:
            """Go, and leave another."""
            host.catalogue.remove("tools", context.tool)
            host.catalogue.add(tool("after"))
            return "done"

        host.catalogue.add(once)
        assert await value(host, "once") == "done"
        assert await all_pages(host) == ["after"]
        outcome = await call(host, "once")
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, NotFoundError)


async def test_a_slow_definition_keeps_no_other_waiting() -> None:
    """Compiling is the author's code too, and nothing is locked meanwhile."""
    entered, go = threading.Event(), threading.Event()

    def slow(config: Any) -> bool:
        entered.set()
        return go.wait(WAIT)

    async with make_host() as host:
        adding = asyncio.create_task(asyncio.to_thread(host.catalogue.add, tool("slow")._replace(enabled=slow)))
        await asyncio.to_thread(entered.wait, WAIT)
        host.catalogue.add(tool("quick"))
        assert await all_pages(host) == ["quick"]
        go.set()
        await adding
        assert await all_pages(host) == ["quick", "slow"]


async def test_what_is_gone_leaves_nothing_behind() -> None:
    class Heavy:
        def __call__(self) -> str:
            """Be called."""
            return "x"

    async with make_host() as host:
        heavy = Heavy()
        gone = weakref.ref(heavy)
        host.catalogue.add(ToolDefinition(heavy, name="heavy", description="Heavy."))
        await all_pages(host)
        await value(host, "heavy")
        host.catalogue.remove("tools", "heavy")
        del heavy
        gc.collect()
        assert gone() is None


async def test_adding_one_tool_among_many_compiles_one(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counting(definition: ToolDefinition, name: str, *of_its_owner: Any) -> Any:
        compiled.append(name)
        return compile_tool(definition, name, *of_its_owner)

    async with make_host() as host:
        host.catalogue.add(*(tool(f"t{number:03}") for number in range(100)))
        monkeypatch.setattr(binding, "compile_tool", counting)
        host.catalogue.add(tool("one"))
        host.catalogue.update(tool("t050"))
        host.catalogue.remove("tools", "t051")
        assert len(await all_pages(host)) == 100
    assert compiled == ["one", "t050"]


# --- cursors


def cursor_of(text: str) -> str:
    return base64.urlsafe_b64encode(f"tools:{text}".encode("utf-8", "surrogatepass")).decode()


CURSORS = st.one_of(
    st.text(), st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()), st.text().map(cursor_of)
)


@settings(max_examples=300)
@given(cursor=st.one_of(CURSORS, st.none(), st.integers(), st.lists(st.text()), st.dictionaries(st.text(), st.text())))
def test_whatever_is_given_for_a_cursor_is_answered_with_a_page_or_refused(cursor: Any) -> None:
    outcome = asyncio.run(PAGED.dispatch(Call("tools/list", {"cursor": cursor})))
    if isinstance(outcome, Failure):
        assert isinstance(outcome.error, ProtocolError)
        assert (outcome.error.code, outcome.error_id) == (-32602, None)
    else:
        assert isinstance(outcome, Listing)
        assert len(outcome.items) <= 3


NAMES = st.sets(st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,6}", fullmatch=True), min_size=1, max_size=12)


@pytest.mark.requirement("LIST-01")
@settings(max_examples=60)
@given(before=NAMES, after=NAMES, size=st.integers(1, 5))
def test_a_reader_misses_nothing_that_stays_and_sees_nothing_twice(
    before: set[str], after: set[str], size: int
) -> None:
    """However the list changes between two pages, and whoever serves the second."""

    async def read() -> list[str]:
        one, other = make_host(page_size=size), make_host(page_size=size)
        one.catalogue.add(*map(tool, before))
        other.catalogue.add(*map(tool, after))
        one.load()
        other.load()
        page = await one.dispatch(Call("tools/list", {}))
        assert isinstance(page, Listing)
        names = [item.name for item in page.items]
        while page.next_cursor is not None:
            page = await other.dispatch(Call("tools/list", {"cursor": page.next_cursor}))
            assert isinstance(page, Listing)
            names += [item.name for item in page.items]
        return names

    names = asyncio.run(read())
    assert names == sorted(set(names))
    assert before & after <= set(names) if len(before) > size else set(names) == before


PAGED = make_host(page_size=3)
PAGED.catalogue.add(*(tool(f"n{number}") for number in range(10)))
PAGED.load()


@pytest.mark.parametrize(
    "cursor", ["\ud800", "=", "====", "A", "AA", "AA==AA==", "/w==", "_w==", "-" * 9, " YQ==", "YQ==\n"]
)
def test_cursors_that_were_never_given(cursor: str) -> None:
    outcome = asyncio.run(PAGED.dispatch(Call("tools/list", {"cursor": cursor})))
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ProtocolError)
