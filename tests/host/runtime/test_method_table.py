"""The lists of a host, in pages, and invalid cursors."""

from __future__ import annotations

import base64
from itertools import product
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Failure, Listing
from tests.host.hosting import make_host

LISTS = ("tools/list", "resources/list", "prompts/list")
ALL_LISTS = (*LISTS, "resources/templates/list")
NAMES = [f"n{number:03}" for number in range(25)]


def make_kit(*names: str) -> Toolkit:
    """Return a toolkit with a tool, a resource and a prompt of each name, in this order."""
    kit = Toolkit("x", prefix=False)
    for name in names:
        kit.tool(name=name, description="x")(lambda: "x")
        kit.resource(f"x://{name}", name=name)(lambda: "x")
        kit.prompt(name=name, description="x")(lambda: "x")
    return kit


async def page(host: Host, method: str, cursor: Any = None) -> Listing:
    outcome = await host.dispatch(Call(method, {} if cursor is None else {"cursor": cursor}))
    assert isinstance(outcome, Listing), outcome
    return outcome


def names(listing: Listing) -> list[str]:
    return [item.name for item in listing.items]


@pytest.mark.parametrize("size", [1, 24, 25])
@pytest.mark.parametrize("method", LISTS)
async def test_pages_are_sorted_full_and_the_same_objects(method: str, size: int) -> None:
    async with make_host(make_kit(*reversed(NAMES)), page_size=size) as host:
        found = [await page(host, method)]
        assert await page(host, method, "") is found[0]
        while cursor := found[-1].next_cursor:
            found.append(await page(host, method, cursor))
            assert await page(host, method, cursor) is found[-1]
        assert [names(one) for one in found] == [NAMES[at : at + size] for at in range(0, 25, size)]


@pytest.mark.requirement("LIST-02")
async def test_an_invalid_cursor_and_a_cursor_of_another_list_are_refused() -> None:
    encoded = [base64.urlsafe_b64encode(text).decode() for text in (b"\xff\xfe", b"a")]
    wrong: list[Any] = ["no cursor", "====", *encoded, "ünï", "YQ", 5, 0, True, ["a"], {"a": 1}, 1.5]
    async with make_host(make_kit(*NAMES), page_size=1) as host:
        cursors = {method: (await page(host, method)).next_cursor for method in LISTS}
        of_others = [(method, cursor) for method, (own, cursor) in product(ALL_LISTS, cursors.items()) if method != own]
        for method, cursor in [*product(ALL_LISTS, wrong), *of_others]:
            outcome = await host.dispatch(Call(method, {"cursor": cursor}))
            assert isinstance(outcome, Failure)
            assert isinstance(outcome.error, ProtocolError)
            message = "params.cursor is not one of this list's cursors"
            assert (outcome.error.code, outcome.error.message) == (-32602, message)
