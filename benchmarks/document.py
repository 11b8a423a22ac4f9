"""The machine-readable result of a run: one JSON file, written after each scenario, so that a run can be continued.

`FORMAT` is the version of its form, which benchmarks/README.md describes.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from benchmarks import machine, promises, report
from benchmarks.environments import ROOT
from benchmarks.results import Results

FORMAT: Final = 1
MEASURED: Final = (
    "host",
    "plugins",
    "toolkits",
    "uv.lock",
    *(f"benchmarks/{name}" for name in ("servers", "toolkit", "clients")),
)
"""The code that is measured, by folder."""


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """The measurement of one scenario.

    Attributes:
        name: the scenario.
        date: the time of its begin, in UTC.
        seconds: its duration.
        load: the other load of the machine.
    """

    name: str
    date: str
    seconds: float
    load: machine.Load


@dataclass(slots=True)
class Document:
    """The method and the results of one run.

    Attributes:
        method: the facts that must be equal in two runs whose scenarios are in one document.
        results: the measured values.
        scenarios: the scenarios that are complete, by name.
        missing: contenders that could not be installed, each with the reason.
    """

    method: dict[str, Any]
    results: Results = field(default_factory=Results)
    scenarios: dict[str, ScenarioRun] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def measuring(self, name: str) -> Iterator[None]:
        """Record the duration of a scenario and the other load. Remove the values of a scenario that fails."""
        self.forget(name)
        date, started = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        before = machine.Moment.now()
        try:
            yield
        except BaseException:
            self.forget(name)
            raise
        load = machine.Load.between(before, machine.Moment.now())
        self.scenarios[name] = ScenarioRun(name, date, time.perf_counter() - started, load)

    def forget(self, name: str) -> None:
        """Remove a scenario and its values."""
        self.scenarios.pop(name, None)
        self.results.remove(name)

    def warnings(self) -> list[str]:
        """Return the warnings for the reader."""
        loads = [(run.load, run.seconds) for run in self.scenarios.values()]
        return [
            *(f"{name} was not measured: {reason}" for name, reason in self.missing.items()),
            *machine.Load.mean(loads).warnings(),
            *report.noise(self.results),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the document as JSON data."""
        runs = [asdict(run) | {"seconds": round(run.seconds, 1)} for run in self.scenarios.values()]
        return {
            "format": FORMAT,
            "method": self.method,
            "missing": self.missing,
            "scenarios": runs,
            "warnings": self.warnings(),
            "promises": list(map(promises.line, promises.of(self.results))),
            "results": self.results.as_json(),
            "ratios": report.ratios(self.results),
        }

    def write(self, path: Path) -> None:
        """Replace a file with this document as a whole."""
        part = path.with_name(f"{path.name}.part")
        part.write_text(text(self.as_json()), "utf-8")
        part.replace(path)

    @classmethod
    def read(cls, data: dict[str, Any]) -> Self:
        """Return the document of JSON data.

        Raises:
            ValueError: the data has another format.
        """
        if data.get("format") != FORMAT:
            raise ValueError(
                f"the results have the format {data.get('format')!r}, not {FORMAT}: run `make bench` again"
            )
        runs = [ScenarioRun(**run | {"load": machine.Load(**run["load"])}) for run in data["scenarios"]]
        return cls(data["method"], Results.read(data["results"]), {run.name: run for run in runs}, data["missing"])


def text(data: dict[str, Any]) -> str:
    """Return JSON data as text, with a line for each entry of its lists, so that differences are readable."""
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            entries = ",\n".join(f"  {json.dumps(entry)}" for entry in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def revision() -> str:
    """Return the last commit of the measured code, with `-dirty` if its files differ, or "" outside of a repository.

    A commit of pages or tests changes no result.
    """
    commit = _git("log", "-1", "--format=%h", "--abbrev=12", "--", *MEASURED)
    return f"{commit}-dirty" if commit and _git("status", "--porcelain", "--", *MEASURED) else commit


def _git(*arguments: str) -> str:
    environ = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(("git", *arguments), cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
