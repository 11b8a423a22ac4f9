"""Scores equal those of `arcade_evals`: `tools/recorded_scores.py` recorded them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pegboard_evals
from pegboard_evals import EvalCase, EvalRubric, FuzzyWeight, NamedExpectedToolCall

RECORDS = json.loads((Path(__file__).parent / "recorded_scores.json").read_text("utf-8"))


def critic(kind: str, weight: Any, **arguments: Any) -> Any:
    times = ("tolerance", "max_difference")
    arguments |= {name: timedelta(seconds=arguments[name]) for name in times if name in arguments}
    weight = FuzzyWeight[weight] if isinstance(weight, str) else weight
    return getattr(pegboard_evals, f"{kind.capitalize()}Critic")(weight=weight, **arguments)


def outcome(record: dict[str, Any]) -> list[Any]:
    """Return the score, the flags and the score of each comparison."""
    expected = [NamedExpectedToolCall(name, arguments) for name, arguments in record["expected"]]
    critics = [critic(**description) for description in record["critics"]]
    case = EvalCase("case", "", "", expected, critics, rubric=EvalRubric(**record["rubric"]))
    result = case.evaluate([(name, arguments) for name, arguments in record["actual"]])
    scores = [item["score"] for item in result.results]
    return [result.passed, result.warning, result.failure_reason is not None, result.score, *scores]


def test_calls_score_as_in_the_other_package() -> None:
    assert len(RECORDS) == 200
    for record in RECORDS:
        score, *flags, scores = record["result"]
        assert outcome(record) == [*flags, pytest.approx(score, abs=1e-9), *(pytest.approx(each) for each in scores)]
