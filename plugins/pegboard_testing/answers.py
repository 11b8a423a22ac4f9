"""The answers of a test's client to questions that a user, a model or the client itself would answer.

Values of a test become MCP results. A question without an answer fails the test.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from pegboard.errors import ProtocolError
from pegboard.wire.codec import decode, encode
from pegboard.wire.meta_keys import METHOD_NOT_FOUND
from pegboard_client.asked import CAPABILITY_OF, Asked

ALL_CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
}
"""The capabilities of a client that supports every kind of question."""


class Answer(NamedTuple):
    """A result, exactly as the client returns it."""

    result: Mapping[str, Any]


def accept(**content: Any) -> Answer:
    """Return an answer that fills in the form or opens the page."""
    return Answer({"action": "accept", "content": content} if content else {"action": "accept"})


def decline() -> Answer:
    """Return an answer that declines."""
    return Answer({"action": "decline"})


def cancel() -> Answer:
    """Return an answer that closes the form."""
    return Answer({"action": "cancel"})


def reply(text: str, *, model: str = "test", stop_reason: str = "endTurn") -> Answer:
    """Return an answer with a text of the model."""
    content = {"type": "text", "text": text}
    return Answer({"role": "assistant", "model": model, "content": content, "stopReason": stop_reason})


Answering: TypeAlias = Callable[[Asked], Any]
"""Returns the answer to a question, or an awaitable of it."""


class Answers:
    """The prepared answers of a test, and the questions so far.

    Attributes:
        asked: every question so far.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._function: Answering | None = None
        self._fixed: deque[Any] = deque()

    def prepare(self, *answers: Any) -> None:
        """Add one function for all questions, or fixed answers in the order of the questions."""
        if len(answers) == 1 and callable(answers[0]):
            self._function = answers[0]
        else:
            self._fixed.extend(answers)

    async def answer(self, question: Asked) -> dict[str, Any]:
        """Return the result for a question.

        Raises:
            AssertionError: the test has no answer.
            TypeError: the answer does not fit the question.
        """
        if question.method == "ping":
            return {}
        if question.method not in CAPABILITY_OF:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {question.method}")
        self.asked.append(question)
        if self._fixed:
            value = self._fixed.popleft()
        elif self._function is not None:
            value = self._function(question)
            value = await value if inspect.isawaitable(value) else value
        else:
            raise AssertionError(
                f"the test has no answer to the question: {question}; prepare one with client.answer(...)"
            )
        return dict(value.result) if isinstance(value, Answer) else _result(question, value)


def _result(question: Asked, value: Any) -> dict[str, Any]:
    """Return the result for a plain value."""
    plain = decode(encode(value))
    kind = question.kind
    if kind == "roots" and isinstance(plain, list):
        return {"roots": [{"uri": root} if isinstance(root, str) else root for root in plain]}
    if kind == "sampling" and isinstance(plain, str):
        return dict(reply(plain).result)
    if kind in ("form", "url") and plain is False and not _is_field(question, "boolean"):
        return dict(decline().result)
    if kind == "url" and plain is True:
        return dict(accept().result)
    if kind == "form" and (content := _content(question, plain)) is not None:
        return {"action": "accept", "content": content}
    raise TypeError(f"{value!r} does not answer the question: {question}")


def _content(question: Asked, plain: Any) -> dict[str, Any] | None:
    """Return the form content for a value: a dict of all fields, the only field's value, or True without fields."""
    if isinstance(plain, dict):
        return plain
    if len(question.fields) == 1 and plain is not None:
        return {next(iter(question.fields)): plain}
    return {} if plain is True and not question.fields else None


def _is_field(question: Asked, kind: str) -> bool:
    return [field.get("type") for field in question.fields.values()] == [kind]


def answers_from(answers: Answering | Sequence[Any] | None) -> Answers:
    """Return the answers that a test passed to `connect`."""
    made = Answers()
    if callable(answers):
        made.prepare(answers)
    elif answers is not None:
        made.prepare(*answers)
    return made
