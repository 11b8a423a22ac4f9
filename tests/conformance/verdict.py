"""The judgement of a run: expected failures, unexpected ones, and expected ones that no longer happen.

It is stricter than the suite: a warning is a failure, and so is a scenario without a check or without an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

EXPECTED = Path(__file__).parent / "expected.yml"
EVERYWHERE = "wire-schema-valid"
"""The check that every scenario has; a scenario with no other check has shown nothing."""


class Failure(NamedTuple):
    """A check that did not succeed."""

    scenario: str
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.scenario}: {self.check}: {self.message}"


class Verdict(NamedTuple):
    """The outcome of a run: counts of checks, scenarios without a failure, and failures.

    Expected failures have their reasons; stale ones are listed, and did not happen though their scenario ran.
    """

    passed: list[str]
    expected: list[tuple[Failure, str]]
    unexpected: list[Failure]
    stale: list[str]
    succeeded: int
    skipped: int

    @property
    def good(self) -> bool:
        """True if exactly the listed failures happened."""
        return not self.unexpected and not self.stale

    def complaints(self) -> str:
        """Return the unexpected and the stale failures, one on each line."""
        return "\n".join(
            [f"FAIL   {failure}" for failure in self.unexpected]
            + [f"STALE  {entry}: does not fail any more: remove it from {EXPECTED.name}" for entry in self.stale]
        )


def read_expected(text: str) -> dict[str, str]:
    """Return the reason of each expected failure, by `scenario` or `scenario:check`.

    The format is the suite's (`--expected-failures`) with the reason as a required comment.
    """
    entries: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or line == "server:":
            continue
        found = re.fullmatch(r"  - (\S+)  # (\S.*)", line)
        if found is None:
            raise ValueError(f"line {number} is not `  - scenario  # reason`: {line}")
        if found[1] in entries:
            raise ValueError(f"line {number}: {found[1]} is there twice")
        entries[found[1]] = found[2]
    return entries


def judge(scenarios: Iterable[str], runs: Mapping[str, Sequence[Any]], expected: Mapping[str, str]) -> Verdict:
    """Compare a run, the checks of each scenario that ended, with the expected failures of these scenarios."""
    wanted = list(scenarios)
    verdict = Verdict([], [], [], [], _count(runs, "SUCCESS"), _count(runs, "SKIPPED"))
    seen = set()
    for scenario in wanted:
        failures = _failures(scenario, runs.get(scenario))
        if not failures:
            verdict.passed.append(scenario)
        for failure in failures:
            entry = next((key for key in (f"{scenario}:{failure.check}", scenario) if key in expected), None)
            if entry is None:
                verdict.unexpected.append(failure)
            else:
                seen.add(entry)
                verdict.expected.append((failure, expected[entry]))
    verdict.stale.extend(key for key in expected if key.partition(":")[0] in wanted and key not in seen)
    return verdict


def _failures(scenario: str, checks: Sequence[Any] | None) -> list[Failure]:
    if checks is None:
        return [Failure(scenario, "did-not-complete", "the suite gave up on it; see run.log")]
    failures = [
        Failure(scenario, check["id"], " ".join((check.get("errorMessage") or check["description"]).split()))
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]
    if not failures and not any(check["status"] == "SUCCESS" and check["id"] != EVERYWHERE for check in checks):
        failures.append(Failure(scenario, "nothing-checked", "no check of its own was made"))
    return failures


def _count(runs: Mapping[str, Sequence[Any]], status: str) -> int:
    return sum(check["status"] == status for checks in runs.values() for check in checks)
