"""Middleware that counts requests: their durations in buckets, and their errors by kind."""

from __future__ import annotations

from asyncio import CancelledError
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from time import perf_counter

from pegboard import MCPError, ToolkitError, ToolResult
from pegboard.plugin import Middleware, ProtocolError
from pegboard.types import Call, CallNext, Failure, Inventory, Outcome, RawResult

BUCKETS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The upper bounds of the buckets in seconds: those of the OpenTelemetry conventions for MCP, and 1 ms."""
NAMED_METHODS = ("tools/call", "prompts/get")
"""The methods whose requests are counted by name. The catalogue bounds the names."""


class Durations:
    """The durations of one kind of request.

    Attributes:
        counts: the number of requests in each bucket, the last without a bound.
        total: the sum of the durations in seconds.
    """

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class CallCounts(Middleware):
    """Counts the requests of one host.

    Attributes:
        durations: the durations by method and name. The name is "" for unknown names and other methods.
        errors: the number of failed requests by method, name and kind of error.
    """

    outermost = True

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self.durations: dict[tuple[str, str], Durations] = {}
        self.errors: Counter[tuple[str, str, str]] = Counter()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the catalogue. Forget the counts of other names."""
        self._names = dict(zip(NAMED_METHODS, map(frozenset, (inventory.tools, inventory.prompts)), strict=True))
        self.durations = {key: value for key, value in tuple(self.durations.items()) if self._is_known(*key)}
        self.errors = Counter({key: count for key, count in tuple(self.errors.items()) if self._is_known(*key[:2])})
        return ()

    def _is_known(self, method: str, name: str) -> bool:
        return not name or name in self._names[method]

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Count a request when it ends."""
        began = perf_counter()
        try:
            outcome = await call_next(call)
        except BaseException as error:
            self._count(call, began, _kind(error))
            raise
        self._count(call, began, _kind_of_outcome(outcome))
        return outcome

    def _count(self, call: Call, began: float, kind: str | None) -> None:
        method = call.method
        name = call.params.get("name") if method in NAMED_METHODS else ""
        key = (method, name if type(name) is str and name in self._names.get(method, ()) else "")
        durations = self.durations.get(key)
        if durations is None:
            durations = self.durations[key] = Durations()
        durations.add(perf_counter() - began)
        if kind is not None:
            self.errors[(*key, kind)] += 1


def _kind_of_outcome(outcome: Outcome) -> str | None:
    if isinstance(outcome, Failure):
        return _kind(outcome.error)
    return "tool_error" if isinstance(outcome, ToolResult | RawResult) and outcome.is_error else None


def _kind(error: BaseException) -> str:
    """Return the kind of an error: one of a limited number of strings, none of which a caller chooses."""
    if isinstance(error, ToolkitError):
        return error.kind.value
    if isinstance(error, ProtocolError):
        return str(error.code)
    if isinstance(error, MCPError):
        return type(error).__name__
    return "cancelled" if isinstance(error, CancelledError) else "internal"
