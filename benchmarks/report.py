"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import calls, client_calls, data, imports, lists, memory, start
from benchmarks.contenders import FASTMCP, FLOOR, FLOOR_UVLOOP, PEGBOARD, SDK, SDK_FAST
from benchmarks.http import auth, mounted_calls
from benchmarks.http import calls as http_calls
from benchmarks.http import lists as http_lists
from benchmarks.http import memory as http_memory
from benchmarks.http import sizes as http_sizes
from benchmarks.results import NOISY, Results


@dataclass(frozen=True, slots=True)
class Table:
    """The form of the table of one scenario.

    Attributes:
        title: the title, before the name of the case.
        columns: the metric of each column, by its header.
        metric: the metric whose ratios and quartiles are shown.
        bases: the contenders that others are compared with.
    """

    title: str
    columns: dict[str, str]
    metric: str
    bases: tuple[str, ...]


TABLES = {
    calls.NAME: Table(
        "tools/call over stdio",
        {"calls/s": "per_second", "p50 ms": "p50_ms", "p99 ms": "p99_ms", "CPU us/call": "cpu_us"},
        "cpu_us",
        (FLOOR, SDK),
    ),
    client_calls.NAME: Table(
        "tools/call by clients over HTTP", {"calls/s": "per_second", "CPU us/call": "cpu_us"}, "cpu_us", (SDK, FASTMCP)
    ),
    start.NAME: Table(
        "cold start to the first tools/list answer",
        {"wall ms": "wall_ms", "RSS MiB": "rss_mib", "CPU ms": "cpu_ms"},
        "cpu_ms",
        (start.PYDANTIC, SDK),
    ),
    imports.NAME: Table(
        "importing", {"wall ms": "wall_ms", "RSS MiB": "rss_mib", "CPU ms": "cpu_ms"}, "cpu_ms", (start.PYDANTIC,)
    ),
    memory.NAME: Table(
        f"resident memory, MiB; after {memory.CALLS} calls, and after as many again",
        {"after": "after_mib", "after twice": "after_twice_mib", "peak": "peak_mib", "at rest": "rest_mib"},
        "rest_mib",
        (FLOOR, SDK),
    ),
    lists.NAME: Table(
        "tools/list over stdio",
        {
            "KiB": "answer_kib",
            "pages": "pages",
            "start wall ms": "start_wall_ms",
            "start CPU ms": "start_cpu_ms",
            "RSS MiB": "rss_mib",
            "wall us": "wall_us",
            "CPU us": "cpu_us",
        },
        "cpu_us",
        (FLOOR, SDK),
    ),
    http_calls.NAME: Table(
        "tools/call over HTTP",
        {
            "calls/s": "per_second",
            "p50 ms": "p50_ms",
            "p99 ms": "p99_ms",
            "CPU us/call": "cpu_us",
        },
        "cpu_us",
        (FLOOR, FLOOR_UVLOOP, SDK, SDK_FAST),
    ),
    auth.NAME: Table(
        "calls over HTTP with a token",
        {"calls/s": "per_second", "p50 ms": "p50_ms", "p99 ms": "p99_ms", "CPU us/call": "cpu_us"},
        "cpu_us",
        (auth.OPEN, FLOOR),
    ),
    mounted_calls.NAME: Table(
        "tools/call over HTTP of a mounted server's tool",
        {"calls/s": "per_second", "p50 ms": "p50_ms", "p99 ms": "p99_ms", "CPU us/call": "cpu_us"},
        "cpu_us",
        (PEGBOARD,),
    ),
    http_lists.NAME: Table(
        f"tools/list over HTTP (CPU us; calls of add x{http_lists.CONCURRENCY})",
        {
            "start wall ms": "start_wall_ms",
            "RSS MiB": "rss_mib",
            "pages": "pages",
            "us/call": "call_us",
            "us, all pages": "all_us",
            "KiB/page": "page_kib",
            "wall us/page": "page_wall_us",
            "us/page": "page_us",
        },
        "page_us",
        (FLOOR, SDK),
    ),
    http_memory.NAME: Table(
        "memory of an HTTP server for each session or stream",
        {"CPU us each": "each_us", "RSS MiB with all": "rss_mib", "KiB each": "each_kib"},
        "each_kib",
        (FLOOR, SDK),
    ),
    http_sizes.NAME: Table(
        "tools/call over HTTP with a large result",
        {"KiB/answer": "answer_kib", "wall ms": "wall_ms", "CPU ms": "cpu_ms"},
        "cpu_ms",
        (FLOOR, SDK),
    ),
    data.NAME: Table("tools/call inside a process", {"CPU ms": "cpu_ms"}, "cpu_ms", (data.CORE, FLOOR)),
}


def tables(results: Results) -> list[str]:
    """Return a table for each case that was measured."""
    return [
        _table(results, scenario, case, table) for scenario, table in TABLES.items() for case in results.cases(scenario)
    ]


def ratios(results: Results) -> list[dict[str, Any]]:
    """Return the median of every contender divided by that of each base, by scenario and case."""
    rows = []
    for scenario, table in TABLES.items():
        for case in results.cases(scenario):
            for contender in results.contenders(scenario, case):
                ratios = {base: results.ratio(scenario, case, contender, base, table.metric) for base in table.bases}
                to = {base: ratio and ratio.median for base, ratio in ratios.items()}
                rows.append(
                    {"scenario": scenario, "case": case, "contender": contender, "metric": table.metric, "to": to}
                )
    return rows


def noise(results: Results) -> list[str]:
    """Return a warning for each scenario in which the rounds of a measurement differ much."""
    rows = []
    for scenario, table in TABLES.items():
        spreads = {key: summary.spread for key, summary in results.of(scenario, table.metric).items()}
        noisy = [key for key, spread in spreads.items() if spread > NOISY]
        if noisy:
            worst = max(noisy, key=lambda key: spreads[key])
            rows.append(
                f"noisy: in {len(noisy)} of {len(spreads)} rows of {scenario!r} the rounds differ by more than"
                f" {NOISY} times, in {' / '.join(worst)} {spreads[worst]:.1f} times"
            )
    return rows


def _table(results: Results, scenario: str, case: str, table: Table) -> str:
    contenders = results.contenders(scenario, case)
    bases = [base for base in table.bases if base in contenders]
    rows = [["", *table.columns, "q1", "q3", *(f"x {base}" for base in bases)]]
    for contender in contenders:
        row = [contender]
        for metric in table.columns.values():
            summary = results.get(scenario, case, contender, metric)
            row.append(_number(summary.median) if summary else "-")
        spread = results.get(scenario, case, contender, table.metric)
        row += map(_number, spread.quartiles) if spread else ["-", "-"]
        ratios = [results.ratio(scenario, case, contender, base, table.metric) for base in bases]
        rows.append(row + ["-" if ratio is None else f"{ratio.median:.2f}" for ratio in ratios])
    return f"{table.title}: {case}\n{columns(rows)}"


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned lines: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)
