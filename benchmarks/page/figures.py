"""The figures of the results page: which results each of them shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks import calls, data, memory, start
from benchmarks.contenders import (
    ARCADE,
    FASTMCP,
    FLOOR,
    FLOOR_UVLOOP,
    PEGBOARD,
    PEGBOARD_FILES,
    PEGBOARD_UVLOOP,
    SDK,
    SDK_1,
    SDK_FAST,
)
from benchmarks.http import calls as http_calls
from benchmarks.http import lists, sizes
from benchmarks.http import memory as http_memory
from benchmarks.messages import LEGACY, MODERN
from benchmarks.page import svg
from benchmarks.page.svg import Series
from benchmarks.results import Results, Summary

COLORS: Final = {
    PEGBOARD: "#3b6fd4",
    PEGBOARD_UVLOOP: "#3b6fd4",
    PEGBOARD_FILES: "#3b6fd4",
    SDK: "#d9730d",
    SDK_FAST: "#d9730d",
    SDK_1: "#b8860b",
    FASTMCP: "#2a9d6f",
    ARCADE: "#a259c4",
}
"""The color of each contender, the same in all figures. The floor and the import of pydantic are gray."""
_GRAY: Final = "#7a8394"
_BASE: Final = PEGBOARD
NAMES: Final = {
    PEGBOARD_FILES: "pegboard, toolkit-files",
    PEGBOARD_UVLOOP: "pegboard, uvloop",
    SDK: "mcp 2",
    SDK_FAST: "mcp 2, fastest",
    SDK_1: "mcp 1",
    FASTMCP: "FastMCP",
    FLOOR_UVLOOP: "floor, uvloop",
    start.PYDANTIC: "import pydantic",
}
"""The names of contenders in figures, where they differ from those in results."""
_SHOWN: Final = (start.PYDANTIC, FLOOR, FLOOR_UVLOOP, *COLORS)
"""The order of contenders."""
_VARIANTS: Final = {PEGBOARD_FILES, PEGBOARD_UVLOOP, SDK_FAST, FLOOR_UVLOOP}
"""Contenders that have no line of their own."""


@dataclass(frozen=True, slots=True)
class Figure(ABC):
    """A picture, and a table with its figures.

    Attributes:
        title: its title.
        unit: the unit of its values.
        scenario: the scenario of its results.
        metric: the metric that it shows.
    """

    title: str
    unit: str
    scenario: str
    metric: str

    @property
    @abstractmethod
    def shown(self) -> Sequence[str]:
        """The cases that it shows."""

    def is_measured(self, results: Results) -> bool:
        """Return True if the results have its values."""
        return all(self._row(results, case) for case in self.shown)

    @abstractmethod
    def picture(self, results: Results) -> str:
        """Return the picture, as SVG."""

    @abstractmethod
    def table(self, results: Results) -> Iterator[str]:
        """Yield the lines of the table."""

    def _row(self, results: Results, case: str) -> dict[str, Summary]:
        found = {name: results.get(self.scenario, case, name, self.metric) for name in _SHOWN}
        return {name: summary for name, summary in found.items() if summary}


@dataclass(frozen=True, slots=True)
class Bars(Figure):
    """One case of a scenario, a bar for each contender."""

    case: str

    @property
    def shown(self) -> Sequence[str]:
        """The one case."""
        return (self.case,)

    def picture(self, results: Results) -> str:
        """Return the picture, as SVG."""
        row = self._row(results, self.case)
        return svg.bars(self.title, self.unit, [_series(name, [(0, one.median)]) for name, one in row.items()])

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each contender."""
        row = self._row(results, self.case)
        yield f"| | {self.unit} | least and most | times pegboard |"
        yield "|---|--:|--:|--:|"
        for name, one in row.items():
            times = f"{one.median / row[_BASE].median:.2f}" if _BASE in row else ""
            ends = f"{svg.number(one.minimum)} to {svg.number(one.maximum)}"
            yield f"| {_name(name)} | {svg.number(one.median)} | {ends} | {times} |"


@dataclass(frozen=True, slots=True)
class Lines(Figure):
    """Several cases of a scenario, a line for each contender.

    Attributes:
        axis: the meaning of the positions.
        cases: the case of each position.
        logarithmic: True if both scales are logarithmic.
    """

    axis: str
    cases: Mapping[int, str]
    logarithmic: bool = True

    @property
    def shown(self) -> Sequence[str]:
        """The case of each position."""
        return tuple(self.cases.values())

    def picture(self, results: Results) -> str:
        """Return the picture, as SVG."""
        found = self._lines(results)
        series = [_series(name, [(x, one.median) for x, one in row.items()]) for name, row in found.items()]
        return svg.lines(self.title, self.unit, self.axis, series, logarithmic=self.logarithmic)

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each contender, and a column for each position."""
        yield f"| {self.unit} | " + " | ".join(f"{x:,}" for x in self.cases) + " |"
        yield "|---|" + "--:|" * len(self.cases)
        for name, row in self._lines(results).items():
            cells = [svg.number(row[x].median) if x in row else "" for x in self.cases]
            yield f"| {_name(name)} | {' | '.join(cells)} |"

    def _lines(self, results: Results) -> dict[str, dict[int, Summary]]:
        found: dict[str, dict[int, Summary]] = {}
        for x, case in self.cases.items():
            for name, one in self._row(results, case).items():
                found.setdefault(name, {})[x] = one
        return {name: found[name] for name in _SHOWN if name in found and name not in _VARIANTS}


@dataclass(frozen=True, slots=True)
class Times(Figure):
    """Several cases of a scenario, in each the bars of pegboard and of the floor, relative to a base.

    Attributes:
        base: the contender whose value is 1.
        cases: the cases by their names in the picture.
    """

    base: str
    cases: Mapping[str, str]

    @property
    def shown(self) -> Sequence[str]:
        """All cases."""
        return tuple(self.cases.values())

    def picture(self, results: Results) -> str:
        """Return the picture, as SVG."""
        series = []
        for name, case in self.cases.items():
            for label, contender in ((name, PEGBOARD), (FLOOR, FLOOR)):
                times = results.ratio(self.scenario, case, contender, self.base, self.metric) or 0
                series.append(Series(label, COLORS.get(contender, _GRAY), ((0, times),)))
        return svg.bars(self.title, self.unit, series)

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each case."""
        yield f"| {self.unit} | pegboard | floor |"
        yield "|---|--:|--:|"
        for name, case in self.cases.items():
            ratios = [results.ratio(self.scenario, case, one, self.base, self.metric) for one in (PEGBOARD, FLOOR)]
            yield f"| {name} | " + " | ".join(svg.number(one) if one else "" for one in ratios) + " |"


def _name(contender: str) -> str:
    return NAMES.get(contender, contender)


def _series(contender: str, points: Sequence[tuple[float, float]]) -> Series:
    return Series(_name(contender), COLORS.get(contender, _GRAY), tuple(points))


_STDIO: Final = f"{LEGACY} add"
_TOOLS: Final = {size: lists.case(LEGACY, lists.tools(size)) for size in lists.SIZES}
FIGURES: Final[Mapping[str, Figure]] = {
    "start": Bars("Start to the first tools/list over stdio", "ms of CPU time", start.NAME, "cpu_ms", LEGACY),
    "memory": Bars(
        "Memory of a server on stdio after the first tools/list", "MiB", memory.NAME, "rest_mib", memory.CASE
    ),
    "stdio-sequential": Bars(
        "Call over stdio, one at a time", "µs of CPU time", calls.NAME, "cpu_us", f"{_STDIO} sequential"
    ),
    "stdio-pipelined": Bars(
        "Call over stdio, 100 at a time", "µs of CPU time", calls.NAME, "cpu_us", f"{_STDIO} pipelined"
    ),
    "http-sessions": Bars(
        "Call over HTTP in a session, 16 at a time",
        "µs of CPU time",
        http_calls.NAME,
        "cpu_us",
        http_calls.case(LEGACY, "add", 16),
    ),
    "http-stateless": Bars(
        "Call of 2026-07-28 over HTTP, 16 at a time",
        "µs of CPU time",
        http_calls.NAME,
        "cpu_us",
        http_calls.case(MODERN, "add", 16),
    ),
    "tools": Lines("Whole list over HTTP", "µs of CPU time", lists.NAME, "all_us", "tools", _TOOLS),
    "calls-among-tools": Lines(
        "Call over HTTP among many tools", "µs of CPU time", lists.NAME, "call_us", "tools", _TOOLS
    ),
    "sessions": Lines(
        "Memory of an HTTP server with idle sessions",
        "MiB",
        http_memory.NAME,
        "rss_mib",
        "sessions",
        {count: http_memory.case(count) for count in http_memory.STEPS},
        logarithmic=False,
    ),
    "sizes": Lines(
        "Call over HTTP with a large result",
        "ms of CPU time",
        sizes.NAME,
        "cpu_ms",
        "KiB of JSON",
        {kib: sizes.case(kib) for kib in sizes.KIB},
    ),
    "data": Times(
        "Call with 9,000 objects inside a process",
        "times to_json or from_json",
        data.NAME,
        "cpu_ms",
        data.CORE,
        {kind: data.case(kind) for kind in data.KINDS},
    ),
}
"""The figures, by the name of their place in the page and of their picture."""
