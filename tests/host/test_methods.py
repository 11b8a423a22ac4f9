"""The methods of the host: lists and their pages, and what is asked for wrongly."""

from __future__ import annotations

import base64
from itertools import product
from typing import Any

import pytest

from pegboard import Host, NotFoundError, Toolkit
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Failure, Listing, Outcome
from tests.host.hosting import make_host

LISTS = ("tools/list", "resources/list", "prompts/list")


def make_kit(*names: str) -> Toolkit:
    """A toolkit with a tool, a resource and a prompt of each name, defined in the order given."""
    kit = Toolkit("x", prefix=False)
    for name in names:

        def function() -> str:
            """Something."""
            return "x"

        kit.tool(name=name)(function)
        kit.resource(f"x://{name}")(function)
        kit.prompt(name=name)(function)
    return kit


NAMES = [f"n{number:03}" for number in range(25)]


async def page(host: Host, method: str, cursor: Any = None) -> Listing:
    outcome = await host.dispatch(Call(method, {} if cursor is None else {"cursor": cursor}))
    assert isinstance(outcome, Listing), outcome
    return outcome


async def pages(host: Host, method: str) -> list[list[str]]:
    found, cursor = [], None
    while True:
        listing = await page(host, method, cursor)
        found.append([item.name for item in listing.items])
        cursor = listing.next_cursor
        if cursor is None:
            return found


async def refused(host: Host, call: Call) -> ProtocolError:
    outcome = await host.dispatch(call)
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ProtocolError)
    return outcome.error


@pytest.mark.parametrize(
    ("size", "lengths"), [(10, [10, 10, 5]), (25, [25]), (24, [24, 1]), (1, [1] * 25), (1000, [25])]
)
async def test_pages_hold_as_many_as_configured_and_nothing_twice(size: int, lengths: list[int]) -> None:
    async with make_host(make_kit(*reversed(NAMES)), page_size=size) as host:
        for method in ("tools/list", "prompts/list"):
            found = await pages(host, method)
            assert [len(one) for one in found] == lengths
            assert [name for one in found for name in one] == NAMES
        found = await pages(host, "resources/list")
        assert [len(one) for one in found] == lengths


async def test_lists_are_in_the_order_of_names_however_they_were_defined() -> None:
    async with make_host(make_kit("b", "c", "a")) as one, make_host(make_kit("c", "a", "b")) as other:
        for method in LISTS:
            first, second = await page(one, method), await page(other, method)
            assert [item.name for item in first.items] == [item.name for item in second.items]
        assert [item.name for item in (await page(one, "tools/list")).items] == ["a", "b", "c"]


@pytest.mark.parametrize("method", LISTS)
async def test_a_cursor_goes_on_in_another_host(method: str) -> None:
    async with make_host(make_kit(*NAMES), page_size=10) as one, make_host(make_kit(*NAMES), page_size=7) as other:
        first = await page(one, method)
        rest = await page(other, method, first.next_cursor)
        whole = await page(one, method, first.next_cursor)
        assert rest.items == whole.items[:7]


@pytest.mark.requirement("LIST-01")
async def test_a_cursor_survives_a_change_of_what_there_is() -> None:
    async with make_host(make_kit(*NAMES), page_size=10) as before:
        cursor = (await page(before, "tools/list")).next_cursor
    changed = [name for name in NAMES if name != "n009"] + ["n005a", "n010a"]
    async with make_host(make_kit(*changed), page_size=3) as after:
        found = await page(after, "tools/list", cursor)
        assert [item.name for item in found.items] == ["n010", "n010a", "n011"]


async def test_a_cursor_of_the_very_end_gives_an_empty_last_page() -> None:
    async with make_host(make_kit("a", "b", "c"), page_size=1) as host:
        cursor = (await page(host, "tools/list", (await page(host, "tools/list")).next_cursor)).next_cursor
    async with make_host(make_kit("a"), page_size=1) as smaller:
        found = await page(smaller, "tools/list", cursor)
        assert (found.items, found.next_cursor) == ((), None)


def encoded(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).decode()


@pytest.mark.requirement("LIST-02")
@pytest.mark.parametrize("method", [*LISTS, "resources/templates/list"])
@pytest.mark.parametrize(
    "cursor",
    ["not one of ours", "====", encoded(b"\xff\xfe"), encoded(b"a"), "ünï", "YQ", 5, 0, True, ["a"], {"a": 1}, 1.5],
    ids=repr,
)
async def test_a_cursor_that_is_none_of_ours_is_refused(method: str, cursor: Any) -> None:
    async with make_host(make_kit("a")) as host:
        error = await refused(host, Call(method, {"cursor": cursor}))
    assert error.code == -32602
    assert error.message == "params.cursor is not one of this list's cursors"


@pytest.mark.requirement("LIST-02")
async def test_a_cursor_belongs_to_its_list() -> None:
    async with make_host(make_kit(*NAMES), page_size=1) as host:
        cursors = {method: (await page(host, method)).next_cursor for method in LISTS}
        for method, (other, cursor) in product([*LISTS, "resources/templates/list"], cursors.items()):
            if method == other:
                assert (await page(host, method, cursor)).items
            else:
                assert (await refused(host, Call(method, {"cursor": cursor}))).code == -32602


@pytest.mark.parametrize("method", [*LISTS, "resources/templates/list"])
async def test_an_empty_cursor_is_none(method: str) -> None:
    async with make_host(make_kit(*NAMES)) as host:
        assert await page(host, method, "") is await page(host, method)


@pytest.mark.parametrize("method", [*LISTS, "resources/templates/list"])
async def test_an_empty_list_is_one_empty_page(method: str) -> None:
    async with make_host() as host:
        found = await page(host, method)
        assert (found.items, found.next_cursor) == ((), None)


async def test_the_same_page_is_the_same_object_for_protocols_to_keep_what_they_made_of_it() -> None:
    async with make_host(make_kit(*NAMES), page_size=10) as host:
        first = await page(host, "tools/list")
        assert await page(host, "tools/list") is first
        second = await page(host, "tools/list", first.next_cursor)
        assert await page(host, "tools/list", first.next_cursor) is second


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (Call("tools/call", {}), -32602, "params.name must be a string"),
        (Call("tools/call", {"name": 5}), -32602, "params.name must be a string"),
        (Call("tools/call", {"name": "a", "arguments": []}), -32602, "params.arguments must be an object"),
        (Call("tools/call", {"name": "a", "arguments": "x"}), -32602, "params.arguments must be an object"),
        (Call("tools/call", {"name": "a", "arguments": False}), -32602, "params.arguments must be an object"),
        (Call("resources/read", {}), -32602, "params.uri must be a string"),
        (Call("prompts/get", {"name": None}), -32602, "params.name must be a string"),
        (Call("no/such", {}), -32601, "Method not found: no/such"),
        (Call("", {}), -32601, "Method not found: "),
    ],
    ids=lambda one: f"{one.method} {dict(one.params)}" if isinstance(one, Call) else None,
)
async def test_what_is_asked_for_wrongly_is_said_so(call: Call, code: int, message: str) -> None:
    async with make_host(make_kit("a")) as host:
        error = await refused(host, call)
    assert (error.code, error.message) == (code, message)


@pytest.mark.parametrize(
    ("call", "message", "data"),
    [
        (Call("tools/call", {"name": "b"}), "Unknown tool: b", None),
        (Call("tools/call", {"name": "A"}), "Unknown tool: A", None),
        (Call("prompts/get", {"name": "b"}), "Unknown prompt: b", None),
        (Call("resources/read", {"uri": "x://b"}), "Resource not found", {"uri": "x://b"}),
    ],
    ids=["tool", "case", "prompt", "resource"],
)
async def test_what_is_not_there_is_not_found(call: Call, message: str, data: Any) -> None:
    async with make_host(make_kit("a")) as host:
        outcome = await host.dispatch(call)
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, NotFoundError)
    assert (outcome.error.message, outcome.error.data, outcome.error_id) == (message, data, None)


@pytest.mark.parametrize("arguments", [None, {}])
async def test_absent_arguments_are_none(arguments: Any) -> None:
    async with make_host(make_kit("a")) as host:
        params = {"name": "a"} | ({} if arguments is None else {"arguments": arguments})
        outcome: Outcome = await host.dispatch(Call("tools/call", params))
        null = await host.dispatch(Call("tools/call", {"name": "a", "arguments": None}))
    assert outcome == null
