"""What middleware makes of an outcome may be nothing that can be sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import Toolkit, ToolResult
from pegboard.plugin import Middleware, Plugin, ProtocolError, hookimpl
from pegboard.testing import connect
from pegboard.types import Call, CallNext, Outcome

kit = Toolkit("x")


@kit.tool
def one() -> str:
    """Give a text, for which there is no schema that would be held against what middleware makes of it."""
    return "1"


class Spoiling(Middleware):
    changes: dict[str, Any]

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        assert isinstance(outcome, ToolResult)
        return outcome._replace(**self.changes)


def spoiler(**changes: Any) -> type[Plugin]:
    class SpoilerPlugin(Plugin):
        @hookimpl
        def register_middleware(self) -> Iterable[Middleware]:
            middleware = Spoiling()
            middleware.changes = changes
            return [middleware]

    return SpoilerPlugin


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "changes", [{"value": object()}, {"meta": {"x": object()}}, {"meta": 5}], ids=["value", "x", "5"]
)
async def test_the_caller_gets_an_id_and_the_log_tells_which_call(
    changes: dict[str, Any], revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(kit, plugins={"spoiler": spoiler(**changes)}, revision=revision) as client:
        with pytest.raises(ProtocolError, match="Internal error") as caught:
            await client.call("one")
    error_id = caught.value.data["errorId"]
    assert f"error {error_id} in tools/call 'x_one': TypeError: its outcome, which a plugin made," in caplog.text
