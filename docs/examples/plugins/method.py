"""A method of an extension: `clock/now` returns the time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from pegboard.plugin import Extension, Method, Plugin, ProtocolError, hookimpl
from pegboard.types import Call, MethodResult, Outcome

EXTENSION = "com.example/clock"


async def now(call: Call) -> Outcome:
    """Return the time in UTC. The parameter `format` selects the form."""
    time = datetime.now(UTC)
    if (form := call.params.get("format", "iso")) == "iso":
        return MethodResult({"now": time.isoformat()})
    if form == "seconds":
        return MethodResult({"now": time.timestamp()})
    raise ProtocolError(-32602, 'unknown format: use "iso" or "seconds"')


class ClockPlugin(Plugin):
    """Enabled by `[plugins.clock]`."""

    @hookimpl
    def register_methods(self) -> Iterable[Extension | Method]:
        """Return the extension and its method."""
        return [Extension(EXTENSION), Method("clock/now", now, extension=EXTENSION)]
