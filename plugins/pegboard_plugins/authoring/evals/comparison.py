"""The differences between two reports, and suggestions about tools that were confused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, variance
from typing import Any

from pegboard_evals import MCPToolDefinition, plain_name
from pegboard_plugins.authoring.evals.report import CaseRow, Report

_Z95 = 1.96
"""The half width of a 95 % confidence interval, in standard errors."""
MIN_WORD_CHARACTERS = 4
MAX_SHARED_WORDS = 8


def compared(before: Report, after: Report) -> Iterator[tuple[str, ...]]:
    """Yield a row for each case whose score differs, and one for the mean of the cases that both reports have.

    The interval is that of the change, from the variance over the runs. It needs at least two runs in both reports. If
    each report has one model, the models may differ.
    """
    first, second = _by_case(before), _by_case(after)
    yield "SUITE", "CASE", "BEFORE", "AFTER", "CHANGE", "95 % INTERVAL"
    pairs = [(first[key], second[key]) for key in first if key in second]
    for old, new in sorted(pairs, key=lambda pair: _mean(pair[1]) - _mean(pair[0])):
        if _mean(old) != _mean(new):
            yield old["suite"], old["case"], *_change([(old, new)])
    for key in sorted(first.keys() ^ second.keys()):
        scores = [f"{_mean(cases[key]):.3f}" if key in cases else "-" for cases in (first, second)]
        yield *key[1:], *scores, "-", "-"
    if pairs:
        yield "", f"mean of {len(pairs)} cases", *_change(pairs)


def _by_case(report: Report) -> dict[tuple[str, ...], CaseRow]:
    has_one_model = len({case["model"] for case in report["cases"]}) == 1
    cases = [case for case in report["cases"] if case["runs"]]
    return {("" if has_one_model else case["model"], case["suite"], case["case"]): case for case in cases}


def _mean(case: CaseRow) -> float:
    return float(mean(run["score"] for run in case["runs"]))


def _change(pairs: Sequence[tuple[CaseRow, CaseRow]]) -> tuple[str, ...]:
    """Return the mean before and after, the change, and its confidence interval."""
    old, new = (mean(_mean(pair[side]) for pair in pairs) for side in (0, 1))
    samples = [[run["score"] for run in case["runs"]] for pair in pairs for case in pair]
    texts = f"{old:.3f}", f"{new:.3f}", f"{new - old:+.3f}"
    if any(len(sample) < 2 for sample in samples):
        return *texts, "-"
    half = _Z95 * sum(variance(sample) / len(sample) for sample in samples) ** 0.5 / len(pairs)
    return *texts, f"{new - old - half:+.3f} to {new - old + half:+.3f}"


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
