"""Middleware that counts the durations of requests and notifications."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Inventory, Outcome
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.operation.opentelemetry.semantic_attributes import (
    Attributes,
    RequestProblem,
    known_names,
    problem_of,
    problem_of_outcome,
    request_attributes,
    transport_attributes,
)


class CallDurations(Middleware):
    """Counts the durations of the messages of clients.

    Attributes:
        durations: the durations.
    """

    outermost = True
    waits = False

    def __init__(self) -> None:
        self.durations = DurationCounts(
            "mcp.server.operation.duration", "Durations of requests and notifications of clients.", _attributes
        )
        self._names = known_names(None)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the catalogue. Durations of other names are not counted by name."""
        self._names = known_names(inventory)
        self.durations.keep(lambda key: key[1] is None or key[1] in self._names.get(key[0] or "", ()))
        return ()

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        """Count a request or a notification when it ends."""
        began = perf_counter()
        try:
            outcome = await call_next(call)
        except BaseException as error:
            self._count(call, began, problem_of(call, error))
            raise
        self._count(call, began, problem_of_outcome(call, outcome))
        return outcome

    def _count(self, call: Call, began: float, problem: RequestProblem | None) -> None:
        method = call.method
        names = self._names.get(method)
        name = None if names is None else call.params.get("name")
        target = name if type(name) is str and names is not None and name in names else None
        kind, code = (None, None) if problem is None else (problem.kind, problem.code)
        self.durations.add((method, target, call.transport, call.client.revision, kind, code), perf_counter() - began)


def _attributes(key: Key) -> Attributes:
    method, target, transport, revision, kind, code = key
    facts = request_attributes(method or "", target) | transport_attributes(transport or "", revision or "")
    return facts if kind is None else facts | RequestProblem(kind, code).attributes
