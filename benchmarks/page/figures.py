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
    FLOOR_TASKS,
    FLOOR_UVLOOP,
    PEGBOARD,
    PEGBOARD_FILES,
    PEGBOARD_PUBLIC,
    PEGBOARD_UVLOOP,
    SDK,
    SDK_1,
    SDK_FAST,
)
from benchmarks.http import auth, lists, mounted_calls, sizes
from benchmarks.http import calls as http_calls
from benchmarks.http import memory as http_memory
from benchmarks.messages import LEGACY, MODERN
from benchmarks.page import svg
from benchmarks.page.svg import Series
from benchmarks.results import NOISY, Results, Summary

_BLUE, _ORANGE, _GRAY = "#3b6fd4", "#d9730d", "#7a8394"
COLORS: Final = {
    start.PYDANTIC: _GRAY,
    FLOOR: _GRAY,
    FLOOR_UVLOOP: _GRAY,
    auth.OPEN: _BLUE,
    "auth_token": _BLUE,
    "resource_server RS256": _BLUE,
    "resource_server ES256": _BLUE,
    start.WITHOUT: _BLUE,
    start.LAZY: _BLUE,
    start.LOCKED: _BLUE,
    PEGBOARD: _BLUE,
    mounted_calls.MOUNTED: _BLUE,
    PEGBOARD_UVLOOP: _BLUE,
    PEGBOARD_PUBLIC: _BLUE,
    PEGBOARD_FILES: _BLUE,
    SDK: _ORANGE,
    SDK_FAST: _ORANGE,
    SDK_1: "#b8860b",
    FASTMCP: "#2a9d6f",
    ARCADE: "#a259c4",
}
"""The color of each row, the same in all figures. Rows keep this order."""
NAMES: Final = {
    PEGBOARD_FILES: "pegboard, toolkit-files",
    PEGBOARD_UVLOOP: "pegboard, uvloop",
    PEGBOARD_PUBLIC: "pegboard, public aiohttp",
    mounted_calls.MOUNTED: "pegboard, mounted tool",
    start.WITHOUT: "pegboard, 100 disabled",
    start.LAZY: "pegboard, lazy",
    start.LOCKED: "pegboard, locked",
    SDK: "mcp 2",
    SDK_FAST: "mcp 2, fastest",
    SDK_1: "mcp 1",
    FASTMCP: "FastMCP",
    FLOOR_UVLOOP: "floor, uvloop",
    FLOOR_TASKS: "floor, tasks",
    start.PYDANTIC: "import pydantic",
    auth.OPEN: "without a token",
}
"""The names of rows in figures, where they differ from those in results."""
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

    def unsteady(self, results: Results) -> Iterator[str]:
        """Yield each shown row whose rounds differ too much."""
        for case in self.shown:
            for name, summary in self._row(results, case).items():
                if summary.spread > NOISY:
                    least, most = map(svg.number, (min(summary.values), max(summary.values)))
                    yield f"{case}: {name}, {least} to {most} {self.unit}"

    def _row(self, results: Results, case: str) -> dict[str, Summary]:
        summaries = {name: results.get(self.scenario, case, name, self.metric) for name in COLORS}
        return {name: summary for name, summary in summaries.items() if summary}


@dataclass(frozen=True, slots=True)
class Bars(Figure):
    """One case of a scenario, a bar for each contender.

    Attributes:
        case: the case.
        base: the contender whose value is 1 in the last column of the table.
    """

    case: str
    base: str = PEGBOARD

    @property
    def shown(self) -> Sequence[str]:
        """The one case."""
        return (self.case,)

    def picture(self, results: Results) -> str:
        """Return the picture, as SVG."""
        row = self._row(results, self.case)
        return svg.bars(self.title, self.unit, [_series(name, [(0, summary)]) for name, summary in row.items()])

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each contender."""
        row = self._row(results, self.case)
        yield f"| | {self.unit} | quartiles | times {name_of(self.base)} |"
        yield "|---|--:|--:|--:|"
        for name, summary in row.items():
            times = f"{summary.over(row[self.base]).median:.2f}" if self.base in row else ""
            yield f"| {name_of(name)} | {svg.number(summary.median)} | {svg.between(summary)} | {times} |"


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
        rows = self._lines(results)
        series = [_series(name, list(row.items())) for name, row in rows.items()]
        return svg.lines(self.title, self.unit, self.axis, series, logarithmic=self.logarithmic)

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each contender, and a column for each position."""
        yield f"| {self.unit} | " + " | ".join(f"{x:,}" for x in self.cases) + " |"
        yield "|---|" + "--:|" * len(self.cases)
        for name, row in self._lines(results).items():
            cells = [svg.number(row[x].median) if x in row else "" for x in self.cases]
            yield f"| {name_of(name)} | {' | '.join(cells)} |"

    def _lines(self, results: Results) -> dict[str, dict[int, Summary]]:
        rows: dict[str, dict[int, Summary]] = {}
        for x, case in self.cases.items():
            for name, summary in self._row(results, case).items():
                rows.setdefault(name, {})[x] = summary
        return {name: rows[name] for name in COLORS if name in rows and name not in _VARIANTS}


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
        for name, row in ((name, self._row(results, case)) for name, case in self.cases.items()):
            for label, contender in ((name, PEGBOARD), (FLOOR, FLOOR)):
                series.append(Series(label, COLORS[contender], ((0, row[contender]),)))
        return svg.bars(self.title, self.unit, series)

    def table(self, results: Results) -> Iterator[str]:
        """Yield a line for each case."""
        yield f"| {self.unit} | pegboard | floor |"
        yield "|---|--:|--:|"
        for name, row in ((name, self._row(results, case)) for name, case in self.cases.items()):
            yield f"| {name} | {svg.number(row[PEGBOARD].median)} | {svg.number(row[FLOOR].median)} |"

    def _row(self, results: Results, case: str) -> dict[str, Summary]:
        row = {name: results.ratio(self.scenario, case, name, self.base, self.metric) for name in (PEGBOARD, FLOOR)}
        return {name: ratio for name, ratio in row.items() if ratio}


def name_of(contender: str) -> str:
    """Return the name of a contender on the page."""
    return NAMES.get(contender, contender)


def _series(contender: str, points: Sequence[tuple[float, Summary]]) -> Series:
    return Series(name_of(contender), COLORS[contender], tuple(points))


_STDIO: Final = f"{LEGACY} add"
_TOOLS: Final = {size: lists.case(LEGACY, lists.tools(size)) for size in lists.SIZES}
FIGURES: Final[Mapping[str, Figure]] = {
    "start": Bars("Start to the first tools/list over stdio", "ms of CPU time", start.NAME, "cpu_ms", LEGACY),
    "start-locked": Bars(
        "Start with 1,000 tools in 100 toolkits to the first tools/list over stdio",
        "ms of CPU time",
        start.NAME,
        "cpu_ms",
        start.case(1000),
    ),
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
    "http-token": Bars(
        "Call of 2026-07-28 over HTTP with a token, 16 at a time",
        "µs of CPU time",
        auth.NAME,
        "cpu_us",
        http_calls.case(MODERN, auth.TOOL, 16),
        auth.OPEN,
    ),
    "http-mounted": Bars(
        "Call of 2026-07-28 over HTTP of a mounted server's tool, one at a time",
        "µs of CPU time",
        mounted_calls.NAME,
        "cpu_us",
        mounted_calls.case(MODERN),
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
