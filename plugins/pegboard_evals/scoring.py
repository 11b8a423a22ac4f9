"""A case: the tool calls that are expected of a model, and the score of its actual calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard_evals.assignment import best_pairs
from pegboard_evals.critics import Critic, Verdict
from pegboard_evals.weights import validate_and_normalize_critic_weights

ActualCall = tuple[str, dict[str, Any]]
"""The name and the arguments of a tool call of a model."""
MAX_NAME_CHARACTERS = 64
TOOL_SELECTION = "tool_selection"
"""The field of the result that compares the names of the tools."""


@dataclass
class NamedExpectedToolCall:
    """An expected tool call.

    Attributes:
        name: the name of the tool.
        args: the expected arguments.
        func: the function of the tool, if the suite names the function; the command then sets the name.
    """

    name: str
    args: dict[str, Any]
    func: Callable[..., Any] | None = None


@dataclass
class EvalRubric:
    """The rules by which a case passes.

    Attributes:
        fail_threshold: the score from which a case passes, from 0 to 1.
        warn_threshold: the score from which a case that does not pass has only a warning.
        fail_on_tool_selection: True if other tools than the expected ones score 0.
        fail_on_tool_call_quantity: True if another number of calls scores 0.
        tool_selection_weight: the weight of the right tool, beside the weights of the critics.
    """

    fail_threshold: float = 0.8
    warn_threshold: float = 0.9
    fail_on_tool_selection: bool = True
    fail_on_tool_call_quantity: bool = True
    tool_selection_weight: float = 1.0

    def judged(self, score: float) -> tuple[bool, bool]:
        """Return two values: True if a score passes, and True if it only has a warning."""
        passed = score >= self.fail_threshold
        return passed, not passed and score >= self.warn_threshold


@dataclass
class EvaluationResult:
    """The result of a case.

    Attributes:
        score: the sum of the scores in parts of the sum of the weights, from 0 to 1.
        passed: True if the score reaches `fail_threshold`.
        warning: True if the case did not pass, and the score reaches `warn_threshold`.
        results: a dict for each comparison, with `field`, `match`, `score`, `weight`, `expected` and `actual`.
        failure_reason: the reason if the rubric failed the case without comparisons; None otherwise.
    """

    score: float = 0.0
    passed: bool = False
    warning: bool = False
    results: list[dict[str, Any]] = field(default_factory=list)
    failure_reason: str | None = None


@dataclass
class EvalCase:
    """A message to a model, and the tool calls that are expected.

    Attributes:
        name: the name of the case.
        system_message: the system message.
        user_message: the last message of the user.
        expected_tool_calls: the expected calls, in any order.
        critics: the critics of arguments, at most one for each name.
        additional_messages: messages before the last one, in the form of chat completions.
        rubric: the rules by which the case passes.
        track: the track whose tools the model gets; "" for those of the suite.

    Raises:
        WeightError: a weight is below 0.
    """

    name: str
    system_message: str
    user_message: str
    expected_tool_calls: list[NamedExpectedToolCall]
    critics: list[Critic] | None = None
    additional_messages: list[dict[str, Any]] = field(default_factory=list)
    rubric: EvalRubric = field(default_factory=EvalRubric)
    track: str = ""

    def __post_init__(self) -> None:
        self.critics = self.critics or []
        validate_and_normalize_critic_weights(self.critics)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages, in the form of chat completions."""
        return [
            {"role": "system", "content": self.system_message},
            *self.additional_messages,
            {"role": "user", "content": self.user_message},
        ]

    def evaluate(self, actual_tool_calls: Sequence[ActualCall]) -> EvaluationResult:
        """Return the score of tool calls. Expected and actual calls are paired so that the score is the greatest."""
        expected = self.expected_tool_calls
        if reason := self._failure(actual_tool_calls):
            return EvaluationResult(failure_reason=reason)
        if not (expected or actual_tool_calls) or not self.critics:
            return EvaluationResult(1.0, passed=True)
        size = max(len(expected), len(actual_tool_calls))
        scores = [[0.0] * size for _ in range(size)]
        for row, call in enumerate(expected):
            for column, actual in enumerate(actual_tool_calls):
                scores[row][column] = self._pair_score(call, actual)
        result = EvaluationResult()
        total = 0.0
        for row, column in enumerate(best_pairs(scores)):
            if row < len(expected) and column < len(actual_tool_calls):
                for comparison, weight in self._comparisons(expected[row], actual_tool_calls[column]):
                    result.results.append(comparison)
                    total += weight
        result.score = sum(comparison["score"] for comparison in result.results) / total if total > 0 else 0.0
        result.passed, result.warning = self.rubric.judged(result.score)
        return result

    def _failure(self, actual: Sequence[ActualCall]) -> str | None:
        """Return the reason why the rubric fails the calls without comparisons, or None."""
        names = sorted(call.name for call in self.expected_tool_calls)
        actual_names = sorted(name for name, _ in actual)
        listed = f"expected {', '.join(names) or 'none'}; called {', '.join(actual_names) or 'none'}"
        if self.rubric.fail_on_tool_call_quantity and len(names) != len(actual_names):
            return f"{len(actual_names)} tool calls, not {len(names)}: {listed}"
        pairs = zip(names, actual_names, strict=False)
        if self.rubric.fail_on_tool_selection and not all(compare_tool_name(*pair) for pair in pairs):
            return f"other tools: {listed}"
        return None

    def _pair_score(self, expected: NamedExpectedToolCall, actual: ActualCall) -> float:
        """Return the score of a pair of calls, by the arguments that both have."""
        name, arguments = actual
        score = self.rubric.tool_selection_weight if compare_tool_name(expected.name, name) else 0.0
        for critic in self.critics or ():
            values = expected.args.get(critic.critic_field), arguments.get(critic.critic_field)
            if all(value is not None for value in values):
                score += (_verdict(critic, *values) or {}).get("score", 0.0)
        return score

    def _comparisons(
        self, expected: NamedExpectedToolCall, actual: ActualCall
    ) -> Iterator[tuple[dict[str, Any], float]]:
        """Yield each comparison of a pair of calls, and its weight in the sum. A critic that fails has no weight."""
        name, arguments = actual
        weight = self.rubric.tool_selection_weight
        is_match = compare_tool_name(expected.name, name)
        shown: Verdict = {"match": is_match, "score": weight if is_match else 0.0}
        yield {"field": TOOL_SELECTION, **shown, "weight": weight, "expected": expected.name, "actual": name}, weight
        for critic in self.critics or ():
            key, weight = critic.critic_field, critic.resolved_weight
            values = {"expected": expected.args.get(key), "actual": arguments.get(key)}
            verdict = _verdict(critic, values["expected"], values["actual"])
            shown = {"match": False, "score": 0.0} if verdict is None else verdict
            yield {"field": key, **shown, "weight": weight, **values}, 0.0 if verdict is None else weight


def _verdict(critic: Critic, expected: Any, actual: Any) -> Verdict | None:
    """Return the verdict of a critic, or None if it fails: critics of authors may raise any exception."""
    try:
        return critic.evaluate(expected, actual)
    except Exception:  # noqa: BLE001 - the value does not suit the critic
        return None


def compare_tool_name(expected: str, actual: str) -> bool:
    """Return True for the same name, regardless of case and of separators such as `-`, `_` and `.`."""
    return plain_name(expected) == plain_name(actual)


def plain_name(name: str) -> str:
    """Return a name in lower case with `_` for each separator, in the length that models accept."""
    return re.sub(r"[^a-z0-9]", "_", name.lower())[:MAX_NAME_CHARACTERS]
