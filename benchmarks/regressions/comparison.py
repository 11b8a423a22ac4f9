"""The costs of two revisions as a table, and their comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.regressions.meters import Meter
from benchmarks.report import columns


@dataclass(frozen=True, slots=True)
class Compared:
    """One path in both revisions.

    Attributes:
        path: its name.
        before: its cost in the base.
        after: its cost in the checkout.
        limit: the largest growth that passes, as a share.
    """

    path: str
    before: float
    after: float
    limit: float

    @property
    def growth(self) -> float:
        """The growth of the cost, as a share of the cost in the base."""
        return self.after / self.before - 1

    @property
    def is_slower(self) -> bool:
        """True if the cost has grown by more than the limit."""
        return self.growth > self.limit


def table(compared: Iterable[Compared], base: str, meter: Meter) -> str:
    """Return a line for each path."""
    rows = [[meter.unit, base, "checkout", "change", ""]]
    for result in compared:
        costs = [f"{cost / meter.scale:,.0f}" for cost in (result.before, result.after)]
        rows.append([result.path, *costs, f"{result.growth:+.1%}", "SLOWER" if result.is_slower else "ok"])
    return columns(rows)
