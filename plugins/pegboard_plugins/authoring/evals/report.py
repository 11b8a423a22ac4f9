"""The report about cases: plain data, which is also its JSON, and its forms as text, Markdown and HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from statistics import mean, pstdev
from typing import Any, Literal, TypeAlias, cast

from typing_extensions import TypedDict

from pegboard_evals import EvalCase, EvaluationResult, with_defaults
from pegboard_plugins.authoring.evals.answers import Answer, Job, Key

State: TypeAlias = Literal["passed", "warned", "failed", "error"]


class CallRow(TypedDict):
    """A tool call."""

    name: str
    args: dict[str, Any]


class Comparison(TypedDict):
    """An argument that a critic compared. `match` is None if the critic only records it."""

    field: str
    match: bool | None
    score: float
    weight: float
    expected: Any
    actual: Any


COMPARED = tuple(Comparison.__annotations__)


class RunRow(TypedDict):
    """The calls of a model in one run of a case, and their score from 0 to 1."""

    score: float
    calls: list[CallRow]
    reason: str | None
    comparisons: list[Comparison]


class CaseRow(TypedDict):
    """One case for one model. The score is the mean over its runs; None if every run failed with an error.

    `track` is "" for a case without tracks. `context` has the messages before the last one with `--include-context`.
    """

    model: str
    suite: str
    case: str
    track: str
    context: list[dict[str, Any]]
    message: str
    state: State
    score: float | None
    deviation: float | None
    expected: list[CallRow]
    errors: list[str]
    runs: list[RunRow]


class Report(TypedDict):
    """The report about answers of models: the number of cases in each state, and the mean score from 0 to 1."""

    version: Literal[1]
    score: float
    passed: int
    warned: int
    failed: int
    error: int
    cases: list[CaseRow]


class ReportOutput(Report):
    """The output of `pegboard evals`. `ok` is false if a case has an error, or the score is below `--min-score`."""

    ok: bool


def make_report(jobs: Sequence[Job], answers: Mapping[Key, Answer], rule: str, *, context: bool = False) -> Report:
    """Return the report about the answers to requests. docs/evaluations.md describes its members."""
    groups: dict[tuple[str, str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.key[:3], []).append(job)
    cases = [_case_row(runs, [answers[job.key] for job in runs], rule, context=context) for runs in groups.values()]
    states = Counter(case["state"] for case in cases)
    scores = [case["score"] for case in cases if case["score"] is not None]
    return Report(
        version=1,
        score=mean(scores) if scores else 0.0,
        passed=states["passed"],
        warned=states["warned"],
        failed=states["failed"],
        error=states["error"],
        cases=cases,
    )


def _case_row(jobs: Sequence[Job], answers: Sequence[Answer], rule: str, *, context: bool) -> CaseRow:
    case = jobs[0].case
    called = [[with_defaults(call, jobs[0].tools) for call in answer.calls] for answer in answers if not answer.error]
    results = [(case.evaluate(calls), calls) for calls in called]
    scores = [result.score for result, _ in results]
    state = _state([result for result, _ in results], rule, case) if results else "error"
    return {
        "model": str(jobs[0].model),
        "suite": jobs[0].suite,
        "case": case.name,
        "track": case.track,
        "context": case.messages[:-1] if context else [],
        "message": case.user_message,
        "state": state,
        "score": mean(scores) if scores else None,
        "deviation": pstdev(scores) if scores else None,
        "expected": [{"name": call.name, "args": call.args} for call in case.expected_tool_calls],
        "errors": [answer.error for answer in answers if answer.error is not None],
        "runs": [
            {
                "score": result.score,
                "calls": [{"name": name, "args": arguments} for name, arguments in calls],
                "reason": result.failure_reason,
                "comparisons": [cast(Comparison, {name: item[name] for name in COMPARED}) for item in result.results],
            }
            for result, calls in results
        ],
    }


def _state(results: Sequence[EvaluationResult], rule: str, case: EvalCase) -> State:
    """Return the state of a case from its runs."""
    last = results[-1]
    passed, warned = last.passed, last.warning
    if rule == "mean":
        passed, warned = case.rubric.judged(mean(result.score for result in results))
    elif rule == "majority":
        counts = [sum(result.passed for result in results), sum(result.passed or result.warning for result in results)]
        passed, warned = (count > len(results) // 2 for count in counts)
    return "passed" if passed else "warned" if warned else "failed"


def misses_first(report: Report, *, only_failed: bool = False) -> list[CaseRow]:
    """Return the cases, those with the lowest scores first."""
    cases = [case for case in report["cases"] if not only_failed or case["state"] in ("failed", "error")]
    return sorted(cases, key=lambda case: (case["state"] == "passed", case["score"] or 0.0))


def summary(report: Report) -> str:
    """Return the counts and the score in one line."""
    counts = [f"{report[state]} {state}" for state in ("passed", "warned", "failed", "error") if report[state]]
    return f"{', '.join(counts)}; score {report['score']:.3f}"


def table(cases: Iterable[CaseRow]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table of cases."""
    yield "RESULT", "SCORE", "MODEL", "SUITE", "CASE"
    for case in cases:
        yield case["state"], _score_text(case), case["model"], case["suite"], case["case"]


def track_table(report: Report) -> list[tuple[str, ...]]:
    """Return the rows of a table with a column for each track, and the mean of each; no rows without tracks."""
    rows: dict[tuple[str, ...], dict[str, CaseRow]] = {}
    for case in report["cases"]:
        if track := case["track"]:
            name = case["case"].replace(f" [{track}]", "", 1)
            rows.setdefault((case["model"], case["suite"], name), {})[track] = case
    tracks = list(dict.fromkeys(track for row in rows.values() for track in row))
    if not tracks:
        return []
    columns = [[row[track]["score"] for row in rows.values() if track in row] for track in tracks]
    answered = [[score for score in column if score is not None] for column in columns]
    return [
        ("MODEL", "SUITE", "CASE", *tracks),
        *(
            (*place, *(f"{_score_text(row[track])} {row[track]['state']}" if track in row else "-" for track in tracks))
            for place, row in rows.items()
        ),
        ("mean", "", "", *(f"{mean(scores):.3f}" if scores else "-" for scores in answered)),
    ]


def _score_text(case: CaseRow) -> str:
    if case["score"] is None:
        return "-"
    return f"{case['score']:.3f}" + (f" ±{case['deviation']:.3f}" if len(case["runs"]) > 1 else "")


def details(case: CaseRow) -> Iterator[str]:
    """Yield lines about the worst run of a case: the calls, the reason and each comparison."""
    yield from (f"context: {_json(message)}" for message in case["context"])
    yield f"message: {case['message']}"
    yield from (f"error: {error}" for error in case["errors"])
    yield f"expected: {_calls_text(case['expected'])}"
    for run in _worst(case):
        yield f"called: {_calls_text(run['calls'])}"
        if run["reason"]:
            yield f"reason: {run['reason']}"
        for item in _judged(run):
            yield (
                f"{'ok  ' if item['match'] else 'miss'} {item['field']} {item['score']:.2f}/{item['weight']:.2f}: "
                f"expected {_json(item['expected'])}, got {_json(item['actual'])}"
            )


def _worst(case: CaseRow) -> list[Any]:
    return sorted(case["runs"], key=lambda run: run["score"])[:1]


def _judged(run: Mapping[str, Any]) -> list[Any]:
    return [item for item in run["comparisons"] if item["match"] is not None]


def _calls_text(calls: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{call['name']}({_json(call['args'])[1:-1]})" for call in calls) or "no tool"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def rendered(report: Report, form: str, *, only_failed: bool = False) -> str:
    """Return the report in a form: "json", "txt", "md" or "html".

    Args:
        report: the report.
        form: the form.
        only_failed: True to leave out the cases that did not fail. JSON has all.
    """
    if form == "json":
        return json.dumps(report, indent=2, ensure_ascii=False, default=str) + "\n"
    cases = misses_first(report, only_failed=only_failed)
    tracks = track_table(report)
    if form == "html":
        sections = "\n".join([_html_tracks(tracks), *map(_html_case, cases)])
        return _PAGE.format(summary=escape(summary(report)), cases=sections)
    is_markdown = form == "md"
    lines = ["# Evaluation" if is_markdown else "EVALUATION", "", summary(report)]
    for rows in filter(None, [[*table(cases)], tracks]):
        lines += ["", *(_md_rows(rows) if is_markdown else map("  ".join, rows))]
    for case in cases:
        lines += ["", f"{'## ' if is_markdown else ''}{case['case']} ({case['model']}): {case['state']}", ""]
        lines += [f"    {line}" for text in details(case) for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def _md_rows(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for row in (rows[0], ("---",) * len(rows[0]), *rows[1:]):
        yield f"| {' | '.join(map(_md_cell, row))} |"


def _md_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _html_tracks(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table with a column for each track, or "" without tracks."""
    if not rows:
        return ""
    head, *body = [[escape(text) for text in row] for row in rows]
    lines = [
        "".join(f'<td data-name="{name}">{text}</td>' for name, text in zip(head, row, strict=True)) for row in body
    ]
    return f"<table><tr><th>{'</th><th>'.join(head)}</th></tr><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def _html_case(case: CaseRow) -> str:
    """Return a case as a section that is open if it did not pass."""
    rows = [
        f'<tr class="{"ok" if item["match"] else "miss"}"><th>{escape(item["field"])}</th>'
        f'<td data-name="Expected">{escape(_json(item["expected"]))}</td>'
        f'<td data-name="Actual">{escape(_json(item["actual"]))}</td>'
        f'<td data-name="Score">{item["score"]:.2f} / {item["weight"]:.2f}</td></tr>'
        for run in _worst(case)
        for item in _judged(run)
    ]
    notes = [*map(_json, case["context"]), *case["errors"], *(run["reason"] for run in _worst(case) if run["reason"])]
    called = [_calls_text(run["calls"]) for run in _worst(case)] or ["no answer"]
    head = "<tr><th>Argument</th><th>Expected</th><th>Actual</th><th>Score</th></tr>" if rows else ""
    return (
        f'<details class="{case["state"]}"{"" if case["state"] == "passed" else " open"}>'
        f"<summary><b>{escape(case['state'])}</b> <span>{escape(_score_text(case))}</span> {escape(case['case'])} "
        f"<small>{escape(case['suite'])}, {escape(case['model'])}</small></summary>"
        f"<blockquote>{escape(case['message'])}</blockquote>"
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
        + f'<div class="calls"><div><h3>Expected</h3><code>{escape(_calls_text(case["expected"]))}</code></div>'
        f"<div><h3>Actual</h3><code>{escape(called[0])}</code></div></div>"
        f"<table>{head}{''.join(rows)}</table></details>"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evaluation</title><style>
:root {{ color-scheme: light dark; --line: #8886; --bad: #c62828; --warn: #b26a00; --good: #2e7d32; }}
@media (prefers-color-scheme: dark) {{ :root {{ --bad: #ff8a80; --warn: #ffcc80; --good: #a5d6a7; }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }}
details {{ border: 1px solid var(--line); border-left: 6px solid var(--bad); border-radius: 6px; margin: .8rem 0;
  padding: .6rem 1rem; }}
details.passed {{ border-left-color: var(--good); }} details.warned {{ border-left-color: var(--warn); }}
summary {{ cursor: pointer; overflow-wrap: anywhere; }} summary span {{ font-variant-numeric: tabular-nums; }}
summary b, tr.miss td, tr.miss th {{ color: var(--bad); }}
.passed summary b {{ color: var(--good); }} .warned summary b {{ color: var(--warn); }}
small {{ opacity: .75; }} blockquote {{ margin: .6rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }}
h3 {{ font-size: .85rem; margin: .4rem 0 .1rem; }} code {{ overflow-wrap: anywhere; }}
.calls {{ display: grid; gap: 1rem; grid-template-columns: 1fr 1fr; }}
table {{ border-collapse: collapse; width: 100%; margin-top: .6rem; }}
th, td {{ text-align: left; padding: .3rem .6rem; border-top: 1px solid var(--line); overflow-wrap: anywhere;
  vertical-align: top; }}
td[data-name="Score"] {{ white-space: nowrap; }}
@media (max-width: 40rem) {{
  body {{ padding: .5rem; }} details {{ padding: .6rem; }} .calls {{ grid-template-columns: 1fr; gap: .2rem; }}
  tr:has(th + th) {{ display: none; }} tr, th, td {{ display: block; }} td {{ border: 0; padding: 0 .6rem; }}
  td:first-child {{ border-top: 1px solid var(--line); }} td:empty {{ display: none; }}
  td::before {{ content: attr(data-name) ": "; opacity: .75; }}
}}
</style></head><body><h1>Evaluation</h1><p>{summary}</p>
{cases}
</body></html>
"""
