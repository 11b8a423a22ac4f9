"""Records how the package `arcade_evals` scores sets of tool calls, for the tests of `pegboard_evals`.

Run it in an environment with `arcade-mcp[evals]`, which the tests do not need:

    python tools/recorded_scores.py tests/pegboard_evals/recorded_scores.json

The file has only inputs that this program draws with a fixed seed, and the numbers that the package returns.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

SETS = 200
SEED = 35
WORDS = ("open", "the", "pull", "request", "with", "small", "red", "files", "weekly", "report", "for", "Ada", "42", "7")
TOOLS = ("Files.Search", "files_read", "Mail-Send", "Mail.SendAll", "calendar_add")
VALUES: Mapping[str, tuple[Any, ...]] = {
    "binary": ("a", "b", 1, "1", 2.5, "2.5", True, False, None, "None", [1, 2], "12", {"a": 1}, ""),
    "numeric": (0, 1, 2.5, 10, "3", "x", None, -4, 11, 1e-9),
    "similarity": (),
    "datetime": (
        *("2025-01-15T10:00:00", "2025-01-15 10:05", "2025-01-15T10:00:00Z", "2025-01-15T12:00:00+02:00"),
        *("January 15, 2025 10:30 AM", "15 Jan 2025 11:00", "01/15/2025 10:08", "2025-01-15", "2025-01-15T13:00:00"),
        *("Jan 15 2025 10:20:30", "Wed, 15 Jan 2025 10:00:00 +0000", "2025-01-15 10:00 UTC", "soon", "", None, 5),
        "2025/01/15 11:59:59",
    ),
}


def drawn_value(kind: str, draw: random.Random) -> Any:
    """Return a value for a critic."""
    if kind == "similarity":
        texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 7))), "", " ", "!?", "a", ["red", "files"], 42, None]
        return draw.choice(texts) if draw.random() < 0.4 else texts[0]
    return draw.choice(VALUES.get(kind, VALUES["binary"]))


def drawn_critic(kind: str, name: str, draw: random.Random) -> dict[str, Any]:
    """Return the arguments of a critic, with its kind."""
    weight = draw.choice(["HIGH", "LOW", "CRITICAL", "MINIMAL"]) if draw.random() < 0.2 else draw.choice([0.1, 0.3, 1])
    more: dict[str, Any] = {}
    if kind == "numeric":
        more = {"value_range": draw.choice([[0, 10], [-5, 5]]), "match_threshold": draw.choice([0.8, 0.5])}
    elif kind == "similarity":
        more = {"similarity_threshold": draw.choice([0.8, 0.3])}
    elif kind == "datetime":
        more = {"tolerance": draw.choice([0, 500, 1800]), "max_difference": draw.choice([3600, 7200])}
    return {"kind": kind, "critic_field": name, "weight": weight, **more}


def drawn_set(draw: random.Random) -> dict[str, Any]:
    """Return a case and tool calls."""
    kinds = draw.sample(["binary", "numeric", "similarity", "datetime", "none"], k=draw.randint(0, 4))
    critics = [drawn_critic(kind, f"field_{place}", draw) for place, kind in enumerate(kinds)]

    def call() -> list[Any]:
        used = [(critic["critic_field"], critic["kind"]) for critic in critics if draw.random() < 0.85]
        return [draw.choice(TOOLS), {name: drawn_value(kind, draw) for name, kind in used}]

    expected = [call() for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3, 4]))]
    actual = [changed(each, critics, draw) for each in expected]
    draw.shuffle(actual)
    if draw.random() < 0.25:
        actual = actual[1:] if draw.random() < 0.5 else [*actual, call()]
    strict = draw.random() < 0.4
    rubric = {
        "fail_threshold": draw.choice([0.8, 0.6]),
        "warn_threshold": draw.choice([0.9, 0.5, 0.3]),
        "fail_on_tool_selection": strict,
        "fail_on_tool_call_quantity": strict or draw.random() < 0.2,
        "tool_selection_weight": draw.choice([1.0, 0.5, 0]),
    }
    return {"rubric": rubric, "critics": critics, "expected": expected, "actual": actual}


def changed(call: list[Any], critics: list[dict[str, Any]], draw: random.Random) -> list[Any]:
    """Return a call as a model might make it: often the same, sometimes with other separators, values or tools."""
    name, arguments = call
    kinds = {critic["critic_field"]: critic["kind"] for critic in critics}
    values = {key: drawn_value(kinds[key], draw) if draw.random() < 0.5 else value for key, value in arguments.items()}
    name = draw.choice(TOOLS) if draw.random() < 0.2 else name.replace(".", draw.choice("._-")).lower()
    return [name, {key: value for key, value in values.items() if draw.random() < 0.95}]


def main(path: str) -> None:
    """Score the sets and write the file."""
    evals, kinds = import_module("arcade_evals"), import_module("arcade_evals.critic")
    case_class, weights = import_module("arcade_evals.eval").EvalCase, evals.FuzzyWeight
    timedelta = import_module("datetime").timedelta
    draw = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    records = []
    for _ in range(SETS):
        record = drawn_set(draw)
        critics = []
        for description in record["critics"]:
            arguments = dict(description)
            kind = arguments.pop("kind")
            if isinstance(arguments["weight"], str):
                arguments["weight"] = weights[arguments["weight"]]
            for name in ("tolerance", "max_difference"):
                if name in arguments:
                    arguments[name] = timedelta(seconds=arguments[name])
            critics.append(getattr(kinds, f"{kind.capitalize()}Critic")(**arguments))
        expected = [evals.NamedExpectedToolCall(name, args) for name, args in record["expected"]]
        case = case_class("case", "", "", expected, critics, rubric=evals.EvalRubric(**record["rubric"]))
        result = case.evaluate([(name, args) for name, args in record["actual"]])
        scores = [item["score"] for item in result.results]
        record["result"] = [result.score, result.passed, result.warning, result.failure_reason is not None, scores]
        records.append(record)
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in records)
    Path(path).write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
