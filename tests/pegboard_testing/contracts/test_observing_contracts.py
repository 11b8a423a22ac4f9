"""The contracts of observers and definition checks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import current_thread
from typing import Any

from docs.examples.plugins.definition_check import ReadOnlyTools
from docs.examples.plugins.observer import SessionLog
from docs.examples.tests.definition_check_test import READ, WRITE
from pegboard.plugin import CheckedDefinition, DefinitionCheck, Observer
from pegboard.types import Tool
from pegboard_plugins.operation.lock import LockCheck
from pegboard_plugins.operation.prometheus.metrics_endpoint import CallCounts, HostMetrics
from pegboard_plugins.support.catalogue_lock import CatalogueLock
from pegboard_testing import DefinitionCheckContract, ObserverContract
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, variant


class TestPrometheus(ObserverContract):
    def make(self) -> Observer:
        return HostMetrics(CallCounts())


class TestLock(DefinitionCheckContract):
    def make(self) -> DefinitionCheck:
        return LockCheck(CatalogueLock({}), Path("pegboard.lock"))

    def rejected(self) -> list[CheckedDefinition]:
        return [WRITE, READ]


async def ended_later(self: Any, session: Any, seconds: float) -> None:
    await asyncio.sleep(0)


def by_identity(self: Any, session: Any) -> None:
    self.open = getattr(self, "open", {})
    if session in self.open:
        raise KeyError(session)
    self.open[session] = True


OBSERVERS: Faults = [
    (variant(SessionLog, session_ended=ended_later), "test_its_methods_return_nothing"),
    (
        variant(SessionLog, host_started=lambda self, gauges: [{"": 0}[label] for g in gauges for label in g.read()]),
        "test_it_accepts_the_gauges_of_plugins",
    ),
    (
        variant(SessionLog, host_started=lambda self, gauges: next(iter(gauges[0].read().values()))),
        "test_a_gauge_may_have_no_values",
    ),
    (variant(SessionLog, session_started=lambda self, session: session.id + ""), "test_it_accepts_every_session"),
    (variant(SessionLog, session_started=by_identity), "test_equal_sessions_may_overlap"),
    (
        variant(SessionLog, session_started=lambda self, session: {"agent": 1}[session.client.name]),
        "test_a_host_reports_to_it",
    ),
]


def tools_only(self: Any, definition: Any) -> str | None:
    return "it is open" if definition.item.annotations is None and definition.item.input_schema else None


def once(self: Any, definition: CheckedDefinition) -> str | None:
    self.seen = getattr(self, "seen", set())
    is_new = definition.name not in self.seen
    self.seen.add(definition.name)
    return "it is new" if is_new else None


def by_thread(self: Any, definition: CheckedDefinition) -> str | None:
    self.thread = getattr(self, "thread", current_thread())
    return None if current_thread() is self.thread else "it was added elsewhere"


def rejecting(result: Any) -> Any:
    """Return a check with one result for every tool, and None for other items."""
    return variant(ReadOnlyTools, rejection=lambda self, item: result if isinstance(item.item, Tool) else None)


CHECKS: Faults = [
    (rejecting(" "), "test_a_rejection_has_a_reason"),
    (rejecting("It writes.\nIt is refused."), "test_a_rejection_has_a_reason"),
    (rejecting(None), "test_a_rejection_has_a_reason"),
    (rejecting("It is a tool."), "test_an_accepted_definition_has_no_reason"),
    (rejecting(False), "test_every_kind_of_item_has_a_result"),
    (variant(ReadOnlyTools, rejection=tools_only), "test_every_kind_of_item_has_a_result"),
    (variant(ReadOnlyTools, rejection=once), "test_the_result_depends_on_the_definition_alone"),
    (variant(ReadOnlyTools, rejection=by_thread), "test_it_runs_in_any_thread"),
    (variant(ReadOnlyTools, files_read="tools.lock"), "test_its_files_are_paths"),
]
DEFINITIONS = {"rejected": lambda self: [WRITE], "accepted": lambda self: [READ]}
MUTANTS = [
    Mutants(ObserverContract, SessionLog, OBSERVERS),
    Mutants(DefinitionCheckContract, ReadOnlyTools, CHECKS, DEFINITIONS),
]
