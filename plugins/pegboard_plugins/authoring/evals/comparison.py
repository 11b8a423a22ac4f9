"""The differences between two reports, and suggestions about tools that were confused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import mean, variance
from typing import Any

from typing_extensions import TypedDict

from pegboard_evals import MCPToolDefinition, plain_name
from pegboard_plugins.authoring.evals.report import CaseRow, Report

_Z95 = 1.96
"""The half width of a 95 % confidence interval, in standard errors."""
MIN_WORD_CHARACTERS = 4
MAX_SHARED_WORDS = 8


class ComparedCase(TypedDict):
    """The scores of a case in two reports; None where a report lacks the case.

    Attributes:
        suite: the suite; "" for the mean of the cases that both reports have.
        case: the case.
        before: the score in the first report.
        after: the score in the second report.
        change: the difference.
        interval: the 95 % confidence interval of the difference; None without two runs in both reports.
    """

    suite: str
    case: str
    before: float | None
    after: float | None
    change: float | None
    interval: tuple[float, float] | None


class ComparisonOutput(TypedDict):
    """The output of `pegboard evals --compare`. `ok` is false if the second score is below `--min-score`."""

    ok: bool
    rows: list[ComparedCase]


def compared(before: Report, after: Report) -> Iterator[ComparedCase]:
    """Yield a row for each case whose score differs, and one for the mean of the cases that both reports have.

    The interval is that of the change, from the variance over the runs. If each report has one model, the models may
    differ.
    """
    has_models = any(len({case["model"] for case in report["cases"]}) > 1 for report in (before, after))
    first, second = (_by_case(report, has_models=has_models) for report in (before, after))
    pairs = [(first[key], second[key]) for key in first if key in second]
    for old, new in sorted(pairs, key=lambda pair: _mean(pair[1]) - _mean(pair[0])):
        if _mean(old) != _mean(new):
            yield _change(old["suite"], old["case"], [(old, new)])
    for key in sorted(first.keys() ^ second.keys()):
        lost, added = (_mean(cases[key]) if key in cases else None for cases in (first, second))
        yield ComparedCase(suite=key[1], case=key[2], before=lost, after=added, change=None, interval=None)
    if pairs:
        yield _change("", f"mean of {len(pairs)} cases", pairs)


def comparison_table(rows: Iterable[ComparedCase]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table of compared cases."""
    yield "SUITE", "CASE", "BEFORE", "AFTER", "CHANGE", "95 % INTERVAL"
    for row in rows:
        scores = ["-" if score is None else f"{score:.3f}" for score in (row["before"], row["after"])]
        change = "-" if row["change"] is None else f"{row['change']:+.3f}"
        interval = " to ".join(f"{end:+.3f}" for end in row["interval"] or ()) or "-"
        yield row["suite"], row["case"], *scores, change, interval


def _by_case(report: Report, *, has_models: bool) -> dict[tuple[str, ...], CaseRow]:
    cases = [case for case in report["cases"] if case["runs"]]
    return {(case["model"] if has_models else "", case["suite"], case["case"]): case for case in cases}


def _mean(case: CaseRow) -> float:
    return float(mean(run["score"] for run in case["runs"]))


def _change(suite: str, case: str, pairs: Sequence[tuple[CaseRow, CaseRow]]) -> ComparedCase:
    """Return the mean score of cases before and after, and the confidence interval of the change."""
    old, new = (mean(_mean(pair[side]) for pair in pairs) for side in (0, 1))
    samples = [[run["score"] for run in reported["runs"]] for pair in pairs for reported in pair]
    interval = None
    if all(len(sample) > 1 for sample in samples):
        half = _Z95 * sum(variance(sample) / len(sample) for sample in samples) ** 0.5 / len(pairs)
        interval = (new - old - half, new - old + half)
    return ComparedCase(suite=suite, case=case, before=old, after=new, change=new - old, interval=interval)


def suggestions(case: CaseRow, tools: Sequence[MCPToolDefinition]) -> Iterator[str]:
    """Yield lines about the tools that a model confused: the lines of their definitions that share words.

    The words are those that the fewest definitions have. Without another tool, they are shared with the message.
    """
    lines = {plain_name(tool["name"]): _lines(tool) for tool in tools}
    counts = Counter(word for texts in lines.values() for word in _words(" ".join(texts)))
    expected = {plain_name(call["name"]): call["name"] for call in case["expected"]}
    called = {plain_name(call["name"]): call["name"] for run in case["runs"] for call in run["calls"]}
    for missed in sorted(expected.keys() - called.keys()):
        others = {called[name]: lines.get(name, []) for name in sorted(called.keys() - expected.keys())}
        for other, texts in (others or {"message": [case["message"]]}).items():
            yield f"{case['case']}: expected {expected[missed]}, called {other if others else 'no other tool'}"
            both = _words(" ".join(lines.get(missed, []))) & _words(" ".join(texts))
            shared = set(sorted(both, key=lambda word: (counts[word], word))[:MAX_SHARED_WORDS])
            yield f"  shared words: {', '.join(sorted(shared)) or 'none'}"
            for name, own in ((expected[missed], lines.get(missed, [])), (other, texts)):
                yield from (f"  {name}: {line}" for line in own if _words(line) & shared)


def _lines(tool: MCPToolDefinition) -> list[str]:
    """Return the lines of a definition: its description, and each parameter."""
    properties: Mapping[str, Any] = tool.get("inputSchema", {}).get("properties", {})
    parameters = [f"{name}: {schema.get('description', '')}" for name, schema in properties.items()]
    return [line.strip() for line in [*tool.get("description", "").splitlines(), *parameters] if line.strip()]


def _words(line: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", line.lower()) if len(word) >= MIN_WORD_CHARACTERS}
