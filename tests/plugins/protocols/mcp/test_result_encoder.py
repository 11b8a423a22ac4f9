"""Outcomes that cannot be encoded."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import ToolResult
from pegboard.plugin import Middleware, ProtocolError
from pegboard.types import Call, CallNext, Outcome
from pegboard_testing import connect
from tests.host.hosting import kit_of, plugin_of, work


@pytest.mark.parametrize("changes", [{"value": object()}, {"meta": 5}], ids=["value", "type"])
async def test_an_outcome_that_cannot_be_encoded_is_an_error_with_an_id(
    changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Spoiling(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call)
            assert isinstance(outcome, ToolResult)
            return outcome._replace(**changes)

    plugins = {"spoiler": plugin_of(middleware=[Spoiling()])}
    async with connect(kit_of(work), plugins=plugins, revision="2026-07-28") as client:
        with pytest.raises(ProtocolError, match="Internal error") as caught:
            await client.call("work")
    assert f"error {caught.value.data['errorId']} in tools/call 'work': TypeError: " in caplog.text
