"""The values that a toolkit keeps in a session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

import pytest

from pegboard import Context, Depends, RetryableToolError, Toolkit
from pegboard.context.session_data import MAX_SESSION_DATA_BYTES, MAX_SESSION_KEYS
from pegboard_testing import connect
from tests.host.hosting import failure, kit_of, make_host, value


def shop(name: str = "shop") -> Toolkit:
    kit = Toolkit(name)

    @kit.tool
    def put(context: Context, key: str, value: Any) -> None:
        """Keep a value. It runs in a thread."""
        context.session.set(key, value)

    @kit.tool
    async def take(context: Context, key: str) -> Any:
        """Return a value, and change the copy."""
        kept = context.session.get(key, "nothing")
        if isinstance(kept, list):
            kept.append("changed")
        return kept

    @kit.tool
    def drop(context: Context, key: str) -> None:
        """Delete a value."""
        context.session.delete(key)

    return kit


class Values:
    """The values of a session. Others may change them at any time, and `load` reads them."""

    def __init__(self, data: Mapping[str, str]) -> None:
        self.data = dict(data)
        self.others = dict(data)

    async def load(self) -> None:
        self.data |= self.others

    def change(self, name: str, text: str | None) -> None:
        self.data = (
            {**self.data, name: text or ""} if text else {key: self.data[key] for key in self.data if key != name}
        )


async def test_each_session_and_each_toolkit_has_its_values() -> None:
    session, other = Values({}), Values({})
    async with make_host(shop(), shop("bank")) as host:
        await value(host, "shop_put", {"key": "cart", "value": ["tea", None]}, session=session)
        for _ in range(2):
            values = await value(host, "shop_take", {"key": "cart"}, session=session)
            assert values == ["tea", None, "changed"]
        assert await value(host, "bank_take", {"key": "cart"}, session=session) == "nothing"
        assert await value(host, "shop_take", {"key": "cart"}, session=other) == "nothing"
        before = session.data
        for key in ("cart", "cart", "unknown"):
            await value(host, "shop_drop", {"key": key}, session=session)
    assert (before, session.data, other.data) == ({"shop/cart": '["tea",null]'}, {}, {})


def cart(context: Context) -> str:
    return str(context.session.get("cart"))


@pytest.mark.parametrize("name", ["cart", "by_dependency"])
async def test_values_are_read_before_each_function_that_may_use_them(name: str) -> None:
    session = Values({})

    def by_dependency(content: Annotated[str, Depends(cart)]) -> str:
        return content

    async with make_host(kit_of(cart, by_dependency)) as host:
        session.others["x/cart"] = '"tea"'
        assert await value(host, name, session=session) == "tea"


NESTED: Any = []
for _ in range(300):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("full", "key", "content", "reason"),
    [
        ({f"x/{number}": "1" for number in range(MAX_SESSION_KEYS)}, "more", 1, f"{MAX_SESSION_KEYS} keys"),
        ({}, "big", "ä" * (MAX_SESSION_DATA_BYTES // 2), f"{MAX_SESSION_DATA_BYTES} bytes"),
        ({}, "odd", float("nan"), "the value of 'odd' is not JSON"),
        ({}, "odd", NESTED, "the value of 'odd' is not JSON"),
        ({}, "odd", object(), "the value of 'odd' is not JSON"),
        ({}, "odd", [date(2026, 1, 2)], "the value of 'odd' is not JSON: use strings, numbers, booleans, None, lists"),
        ({}, "odd", {1: 2}, "the value of 'odd' is not JSON: use strings"),
        ({}, "odd", (1, 2), "the value of 'odd' is not JSON: use strings"),
        ({}, 5, 1, "the key 5 must be a string"),
    ],
    ids=["keys", "bytes", "NaN", "depth", "value", "date", "number", "tuple", "key"],
)
async def test_a_value_that_cannot_be_kept_is_refused(
    full: Mapping[str, str], key: Any, content: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    session = Values({**full, "bank/a": "1"})

    def put(context: Context) -> None:
        context.session.set(key, content)

    async with make_host(kit_of(put)) as host:
        before = dict(session.data)
        assert "cannot keep" in str((await failure(host, "put", session=session)).error)
        assert session.data == before
    assert reason in caplog.text


async def test_a_failed_call_keeps_what_it_has_set() -> None:
    session = Values({})

    def put(context: Context) -> None:
        context.session.set("cart", {"tea": 1.5})
        raise RetryableToolError("There is no tea.")

    async with make_host(kit_of(put)) as host:
        await failure(host, "put", session=session)
    assert session.data == {"x/cart": '{"tea":1.5}'}


async def test_values_last_as_long_as_a_connection() -> None:
    for _ in range(2):
        async with connect(shop(), revision="2025-11-25") as client:
            assert (await client.call("take", key="cart")).value == "nothing"
            await client.call("put", key="cart", value=["tea"])
            assert (await client.call("take", key="cart")).value == '["tea","changed"]'
