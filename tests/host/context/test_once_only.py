"""Keys that one caller uses: `context.once_only`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.errors import InteractionError, RetryableToolError
from pegboard.loading.discovery import config_of
from pegboard.runtime import open_stores
from pegboard.types import Call, Round
from tests.host.hosting import failure, value
from tests.support import pay_kit
from tests.support.rounds import Rounds

HOST: dict[str, Any] = {"host": {"autoload": False}}


def paying(config: Any = None) -> Host:
    return Host(config or HOST, toolkits={"pay": pay_kit.kit})


@pytest.mark.requirement("ROUND-12")
async def test_a_repeated_answer_acts_once() -> None:
    """The client sends the state of a round again (2026-07-28, basic/patterns/mrtr)."""
    async with paying() as host:
        first, second = Rounds(host, "pay"), Rounds(host, "pay")
        for rounds in (first, second):
            await rounds.step()
        accepted = {"question-1": {"action": "accept"}}
        texts = [str(await rounds.step(accepted)) for rounds in (first, first, second, second)]
    assert ["before" in text for text in texts] == [False, True, False, True]


async def test_a_key_belongs_to_a_toolkit_and_is_remembered_as_long_as_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Toolkit("other")

    @other.tool
    async def order(number: str, context: Context) -> bool:
        """Order once."""
        return await context.once_only(number)

    @other.tool
    async def outer(number: str, context: Context) -> Any:
        """Order by another tool."""
        return await context.tools.call("other_order", {"number": number})

    now = 1000.0
    monkeypatch.setattr(open_stores, "time", lambda: now)
    async with Host(HOST, toolkits={"pay": pay_kit.kit, "other": other}) as host:
        assert [await value(host, name, {"number": "7"}) for name in ("order", "order", "other_order")] == [
            True, False, True,
        ]  # fmt: skip
        before = Round(seconds=900)  # as of a protocol that accepts states for longer
        await host.dispatch(Call("tools/call", {"name": "other_outer", "arguments": {"number": "8"}}, round=before))
        now += 601
        assert await value(host, "order", {"number": "7"}) is True
        assert await value(host, "other_order", {"number": "8"}) is False
        now += 300
        assert await value(host, "other_order", {"number": "8"}) is True


async def test_it_needs_state_that_all_workers_share() -> None:
    config = replace(config_of(HOST, {}), worker=(1, 2))
    async with paying(config) as host:
        error = (await failure(host, "order", {"number": "7"})).error
    assert isinstance(error, InteractionError)
    assert "set [host] state" in str(error.developer_message)


async def test_state_that_is_away_lets_the_caller_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: Any) -> bool:
        raise ConnectionError("away")

    monkeypatch.setattr(open_stores.UsedKeys, "use", away)
    async with paying() as host:
        assert isinstance((await failure(host, "order", {"number": "7"})).error, RetryableToolError)
