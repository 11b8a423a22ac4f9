"""The table of the README: four figures of pegboard beside the two frameworks that most servers use."""

from __future__ import annotations

from typing import Final, NamedTuple

from benchmarks import memory, start
from benchmarks.contenders import FASTMCP, PEGBOARD, SDK
from benchmarks.http import calls, lists
from benchmarks.messages import LEGACY, MODERN
from benchmarks.page import svg
from benchmarks.results import Results


class Row(NamedTuple):
    """A line of the table, and where its values are in the results."""

    title: str
    scenario: str
    case: str
    metric: str


COLUMNS: Final = {PEGBOARD: "pegboard", SDK: "official SDK 2", FASTMCP: "FastMCP"}
ROWS: Final = (
    Row("start to the first list of tools, ms of CPU time", start.NAME, LEGACY, "cpu_ms"),
    Row("list of 1,000 tools over HTTP, µs", lists.NAME, lists.case(LEGACY, lists.tools(1_000)), "all_us"),
    Row("call over HTTP, µs", calls.NAME, calls.case(MODERN, "add", 16), "cpu_us"),
    Row("memory on stdio, MiB", memory.NAME, memory.CASE, "rest_mib"),
)


def summary(results: Results) -> list[str]:
    """Return the lines of the table. A value that was not measured is empty."""
    lines = [f"| | {' | '.join(COLUMNS.values())} |", "|---|" + "--:|" * len(COLUMNS)]
    for row in ROWS:
        values = [results.get(row.scenario, row.case, contender, row.metric) for contender in COLUMNS]
        lines.append(f"| {row.title} | {' | '.join(svg.number(value.median) if value else '' for value in values)} |")
    return lines
