"""Measured values by scenario, case and contender, one for each round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, Final, NamedTuple, Self

NOISY: Final = 1.3
"""Rounds are unsteady if their largest value divided by the least is above this ratio."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of one metric, one for each round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third quartile."""
        first, _, third = quantiles(self.values, n=4, method="inclusive") if len(self.values) > 1 else self.values * 3
        return first, third

    @property
    def spread(self) -> float:
        """The largest value divided by the least."""
        return max(self.values) / min(self.values) if min(self.values) > 0 else 1.0

    def over(self, base: Summary) -> Summary:
        """Return the ratio to a base in each round that both have. The machine's speed in a round has no effect."""
        return Summary(tuple(ours / theirs for ours, theirs in zip(self.values, base.values, strict=False)))

    def above(self, base: Summary) -> Summary:
        """Return the difference to a base in each round."""
        return Summary(tuple(ours - theirs for ours, theirs in zip(self.values, base.values, strict=False)))


class Peer(NamedTuple):
    """The best other framework, and its value in the unit of a promise."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise of the project: the median of a measured value is at most a limit.

    Attributes:
        scenario: the scenario that measures it.
        case: the case of the scenario.
        measured: its values.
        limit: the limit.
        unit: the unit of both, such as "MiB" or "x floor".
        contender: the contender that promises it, perhaps with the measured part, such as "a page of pegboard".
        peer: the best other framework; None if none was measured.
    """

    scenario: str
    case: str
    measured: Summary
    limit: float
    unit: str
    contender: str = ""
    peer: Peer | None = None

    @property
    def subject(self) -> str:
        """The measured case and contender."""
        return f"{self.case}: {self.contender}" if self.contender else self.case

    @property
    def kept(self) -> bool:
        """True if the promise is kept."""
        return self.measured.median <= self.limit

    @property
    def is_ratio(self) -> bool:
        """True if its values are ratios."""
        return self.unit.startswith("x ")

    @property
    def verdict(self) -> str:
        """The word for people."""
        return "kept" if self.kept else "missed"


@dataclass(slots=True)
class Results:
    """The measured values of one run."""

    _values: dict[Key, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, scenario: str, case: str, contender: str, **metrics: float) -> None:
        """Add the values of one round."""
        kept = self._values.setdefault((scenario, case, contender), {})
        for metric, value in metrics.items():
            kept.setdefault(metric, []).append(value)

    def get(self, scenario: str, case: str, contender: str, metric: str) -> Summary | None:
        """Return one metric, or None if it was not measured."""
        values = self._values.get((scenario, case, contender), {}).get(metric)
        return Summary(tuple(values)) if values else None

    def cases(self, scenario: str) -> list[str]:
        """Return the cases of a scenario, in the order in which they were measured."""
        return list(dict.fromkeys(case for name, case, _ in self._values if name == scenario))

    def contenders(self, scenario: str, case: str) -> list[str]:
        """Return the measured contenders of a case."""
        return [contender for name, other, contender in self._values if (name, other) == (scenario, case)]

    def ratio(self, scenario: str, case: str, contender: str, base: str, metric: str) -> Summary | None:
        """Return the values of a contender divided by those of a base, or None."""
        ours, theirs = self.get(scenario, case, contender, metric), self.get(scenario, case, base, metric)
        return ours.over(theirs) if ours and theirs else None

    def of(self, scenario: str, metric: str) -> dict[tuple[str, str], Summary]:
        """Return one metric of a whole scenario, by case and contender."""
        return {
            (case, contender): summary
            for name, case, contender in self._values
            if name == scenario and (summary := self.get(name, case, contender, metric))
        }

    def include(self, other: Results) -> None:
        """Add the values of other measurements."""
        self._values |= other._values

    def remove(self, scenario: str) -> None:
        """Remove the values of a scenario."""
        self._values = {key: metrics for key, metrics in self._values.items() if key[0] != scenario}

    def as_json(self) -> list[dict[str, Any]]:
        """Return all values of each round, with five digits."""
        rows = []
        for (scenario, case, contender), metrics in self._values.items():
            shown = {metric: _as_json(Summary(tuple(map(_rounded, values)))) for metric, values in metrics.items()}
            rows.append({"scenario": scenario, "case": case, "contender": contender, "metrics": shown})
        return rows

    @classmethod
    def read(cls, rows: Iterable[dict[str, Any]]) -> Self:
        """Return the results of JSON data."""
        return cls(
            {
                (row["scenario"], row["case"], row["contender"]): {
                    metric: list(summary["values"]) for metric, summary in row["metrics"].items()
                }
                for row in rows
            }
        )


def _as_json(summary: Summary) -> dict[str, Any]:
    first, third = map(_rounded, summary.quartiles)
    ends = {"min": min(summary.values), "max": max(summary.values), "q1": first, "q3": third}
    return {"median": _rounded(summary.median), **ends, "values": list(summary.values)}


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
