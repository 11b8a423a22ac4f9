"""A catalogue that many threads change while its lists are read and its tools are called."""

from __future__ import annotations

import asyncio
import base64
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegboard import Context, Host, ToolDefinitionError
from pegboard.catalogue import binding
from pegboard.catalogue.tool_compiler import compile_tool
from pegboard.plugin import ProtocolError, ToolDefinition
from pegboard.types import Call, Change, Failure, Listing
from tests.host.hosting import WAIT, call, make_host, until, value

THREADS = 4
ROUNDS = 15


def tool(name: str, function: Callable[..., Any] | None = None) -> ToolDefinition:
    def say() -> str:
        """Return the name."""
        return name

    return ToolDefinition(function or say, name=name)


async def all_pages(host: Host, second: Host | None = None) -> list[str]:
    """Return all names that a host lists. A second host may list the pages after the first."""
    names: list[str] = []
    params: dict[str, str] = {}
    while True:
        outcome = await host.dispatch(Call("tools/list", params))
        assert isinstance(outcome, Listing)
        names += [item.name for item in outcome.items]
        if outcome.next_cursor is None:
            return names
        params, host = {"cursor": outcome.next_cursor}, second or host
        await asyncio.sleep(0)


def change_for_a_while(host: Host, number: int, failures: list[BaseException]) -> None:
    try:
        for turn in range(ROUNDS):
            name = f"t{number}_{turn}"
            host.catalogue.add(tool(name), tool(f"{name}_gone"))
            host.catalogue.update(tool(name))
            host.catalogue.remove("tools", f"{name}_gone")
            try:
                host.catalogue.add(tool(f"shared_{turn}"))  # of several threads, one can
            except ToolDefinitionError as error:
                failures.append(error)
    except BaseException as error:  # noqa: BLE001 - the test looks at it
        failures.append(error)


async def test_threads_change_the_catalogue_while_it_is_read_and_called() -> None:
    failures: list[BaseException] = []
    received: list[Change] = []
    always = [f"always{number}" for number in range(10)]
    async with make_host(page_size=3) as host:
        host.catalogue.add(*map(tool, always))
        host.watch(received.append)
        threads = [threading.Thread(target=change_for_a_while, args=(host, n, failures)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            names = await all_pages(host)
            assert names == sorted(set(names))
            assert set(always) <= set(names)
            assert await value(host, "always3") == "always3"
        await until(lambda: len(received) == THREADS * ROUNDS * 3 + ROUNDS)
        refused = [error for error in failures if "exists already" in str(error)]
        assert len(refused) == len(failures) == (THREADS - 1) * ROUNDS
        added = [f"t{n}_{turn}" for n in range(THREADS) for turn in range(ROUNDS)]
        expected = sorted([*always, *added, *(f"shared_{turn}" for turn in range(ROUNDS))])
        assert await all_pages(host) == list(host.assembly.tools) == expected
        assert host.assembly.forms.keys() == host.assembly.origins["tools"].keys() == host.assembly.tools.keys()
    assert set(received) == {Change("tools")}


async def test_a_tool_may_remove_itself_and_leaves_nothing_behind() -> None:
    class Heavy:
        def __call__(self, context: Context) -> str:
            """Go, and leave another."""
            host.catalogue.remove("tools", context.tool)
            host.catalogue.add(tool("after"))
            return "done"

    async with make_host() as host:
        heavy = Heavy()
        gone = weakref.ref(heavy)
        host.catalogue.add(tool("once", heavy))
        assert await value(host, "once") == "done"
        assert await all_pages(host) == ["after"]
        assert isinstance(await call(host, "once"), Failure)
        del heavy
        gc.collect()
        assert gone() is None


async def test_a_definition_that_is_slow_to_compile_does_not_block_others() -> None:
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


async def test_a_change_compiles_only_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counting(definition: ToolDefinition, name: str, *more: Any) -> Any:
        compiled.append(name)
        return compile_tool(definition, name, *more)

    async with make_host() as host:
        host.catalogue.add(*(tool(f"t{number:03}") for number in range(100)))
        monkeypatch.setattr(binding, "compile_tool", counting)
        host.catalogue.add(tool("one"))
        host.catalogue.update(tool("t050"))
        host.catalogue.remove("tools", "t051")
        assert len(await all_pages(host)) == 100
    assert compiled == ["one", "t050"]


# --- cursors

PAGED = make_host(page_size=3)
PAGED.catalogue.add(*(tool(f"n{number}") for number in range(10)))
PAGED.load()


def cursor_of(text: str) -> str:
    return base64.urlsafe_b64encode(f"tools:{text}".encode("utf-8", "surrogatepass")).decode()


CURSORS = st.one_of(
    st.text(), st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()), st.text().map(cursor_of)
)


@settings(max_examples=200)
@given(cursor=st.one_of(CURSORS, st.none(), st.integers(), st.lists(st.text()), st.dictionaries(st.text(), st.text())))
@example("\ud800")
@example("====")
@example("AA==AA==")
@example("YQ==\n")
def test_any_cursor_results_in_a_page_or_an_error(cursor: Any) -> None:
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
def test_a_reader_misses_nothing_that_stays_and_reads_nothing_twice(
    before: set[str], after: set[str], size: int
) -> None:
    """Whatever changes between two pages, and whichever host serves the second."""
    one, other = make_host(page_size=size), make_host(page_size=size)
    one.catalogue.add(*map(tool, before))
    other.catalogue.add(*map(tool, after))
    one.load()
    other.load()

    async def read() -> list[str]:
        try:
            return await all_pages(one, other)
        finally:
            await one.stop()
            await other.stop()

    names = asyncio.run(read())
    assert names == sorted(set(names))
    assert before & after <= set(names) if len(before) > size else set(names) == before
