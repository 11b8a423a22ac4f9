"""Measured values by scenario, case and contender, one for each round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Self

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of one metric over the rounds."""

    median: float
    minimum: float
    maximum: float
    values: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The largest value divided by the least."""
        return self.maximum / self.minimum if self.minimum > 0 else 1.0


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
        return Summary(median(values), min(values), max(values), tuple(values)) if values else None

    def cases(self, scenario: str) -> list[str]:
        """Return the cases of a scenario, in the order in which they were measured."""
        return list(dict.fromkeys(case for name, case, _ in self._values if name == scenario))

    def contenders(self, scenario: str, case: str) -> list[str]:
        """Return the measured contenders of a case."""
        return [contender for name, one, contender in self._values if (name, one) == (scenario, case)]

    def ratio(self, scenario: str, case: str, contender: str, base: str, metric: str) -> float | None:
        """Return the median of a contender divided by the median of a base, or None."""
        ours, theirs = self.get(scenario, case, contender, metric), self.get(scenario, case, base, metric)
        return ours.median / theirs.median if ours and theirs and theirs.median else None

    def of(self, scenario: str, metric: str) -> dict[tuple[str, str], Summary]:
        """Return one metric of a whole scenario, by case and contender."""
        return {
            (case, contender): summary
            for name, case, contender in self._values
            if name == scenario and (summary := self.get(name, case, contender, metric))
        }

    def remove(self, scenario: str) -> None:
        """Remove the values of a scenario."""
        self._values = {key: metrics for key, metrics in self._values.items() if key[0] != scenario}

    def as_json(self) -> list[dict[str, Any]]:
        """Return all values of each round, with five digits."""
        rows = []
        for (scenario, case, contender), metrics in self._values.items():
            shown = {}
            for metric, values in metrics.items():
                rounded = [_rounded(value) for value in values]
                ends = {"min": min(rounded), "max": max(rounded)}
                shown[metric] = {"median": _rounded(median(rounded)), **ends, "values": rounded}
            rows.append({"scenario": scenario, "case": case, "contender": contender, "metrics": shown})
        return rows

    @classmethod
    def read(cls, rows: Iterable[dict[str, Any]]) -> Self:
        """Return the results of JSON data."""
        return cls(
            {
                (row["scenario"], row["case"], row["contender"]): {
                    metric: list(one["values"]) for metric, one in row["metrics"].items()
                }
                for row in rows
            }
        )


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
