"""What the client of a test answers when a tool asks: the person, the client's model, the client itself.

It turns what a test writes into results of MCP, and says loudly when there is no answer.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from pegboard.errors import ProtocolError
from pegboard.wire.codec import decode, encode
from pegboard.wire.jsonrpc import METHOD_NOT_FOUND

ALL_CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
}
"""Of a client that can be asked everything."""

_KINDS = {"sampling/createMessage": "sampling", "roots/list": "roots"}


class Asked(NamedTuple):
    """A question of the host, as the client gets it.

    Attributes:
        method: "elicitation/create", "sampling/createMessage" or "roots/list".
        params: the parameters of the request.
        name: by which the answer is expected in 2026-07-28, the author's own where there is one; "" in sessions.
    """

    method: str
    params: Mapping[str, Any]
    name: str = ""

    @property
    def kind(self) -> Literal["form", "url", "sampling", "roots"]:
        """What is wanted."""
        if self.method in _KINDS:
            return _KINDS[self.method]  # type: ignore[return-value]  # the table has those two
        return "url" if self.params.get("mode") == "url" else "form"

    @property
    def message(self) -> str:
        """What the person or the model is told; "" for roots. Of sampling, the text of the last message."""
        if self.kind == "sampling":
            content = self.params["messages"][-1]["content"]
            blocks = content if isinstance(content, list) else [content]
            return "\n".join(block["text"] for block in blocks if block["type"] == "text")
        text: str = self.params.get("message", "")
        return text

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of a form by name: their JSON Schemas."""
        properties: Mapping[str, Any] = self.params.get("requestedSchema", {}).get("properties", {})
        return properties

    def __str__(self) -> str:
        fields = f" ({', '.join(self.fields)})" if self.fields else ""
        return f"{self.kind} {self.message!r}{fields}"


class Answer(NamedTuple):
    """A result, exactly as the client gives it."""

    result: Mapping[str, Any]


def accept(**content: Any) -> Answer:
    """The person fills in the form, or opens the page."""
    return Answer({"action": "accept", "content": content} if content else {"action": "accept"})


def decline() -> Answer:
    """The person says no."""
    return Answer({"action": "decline"})


def cancel() -> Answer:
    """The person closes the form without a word."""
    return Answer({"action": "cancel"})


def reply(text: str, *, model: str = "test", stop_reason: str = "endTurn") -> Answer:
    """The model says a text."""
    content = {"type": "text", "text": text}
    return Answer({"role": "assistant", "model": model, "content": content, "stopReason": stop_reason})


Answering: TypeAlias = Callable[[Asked], Any]
"""Given a question, its answer, or an awaitable of it."""


class Answers:
    """What a test has prepared, and what it was asked.

    Attributes:
        asked: every question so far.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._function: Answering | None = None
        self._fixed: deque[Any] = deque()

    def prepare(self, *answers: Any) -> None:
        """Take one function for all questions, or fixed answers in the order of the questions."""
        if len(answers) == 1 and callable(answers[0]):
            self._function = answers[0]
        else:
            self._fixed.extend(answers)

    async def answer(self, asked: Asked) -> dict[str, Any]:
        """The result for a question.

        Raises:
            AssertionError: there is none.
            TypeError: it is none to this question.
        """
        if asked.method == "ping":
            return {}
        if asked.method != "elicitation/create" and asked.method not in _KINDS:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {asked.method}")
        self.asked.append(asked)
        if self._fixed:
            value = self._fixed.popleft()
        elif self._function is not None:
            value = self._function(asked)
            value = await value if inspect.isawaitable(value) else value
        else:
            raise AssertionError(f"the test has no answer to what was asked: {asked}; prepare one: client.answer(...)")
        return dict(value.result) if isinstance(value, Answer) else _result(asked, value)


def _result(asked: Asked, value: Any) -> dict[str, Any]:
    """The result that a plain value stands for."""
    plain = decode(encode(value))
    kind = asked.kind
    if kind == "roots" and isinstance(plain, list):
        return {"roots": [{"uri": one} if isinstance(one, str) else one for one in plain]}
    if kind == "sampling" and isinstance(plain, str):
        return dict(reply(plain).result)
    if kind in ("form", "url") and plain is False and not _is_field(asked, "boolean"):
        return dict(decline().result)
    if kind == "url" and plain is True:
        return dict(accept().result)
    if kind == "form" and (content := _content(asked, plain)) is not None:
        return {"action": "accept", "content": content}
    raise TypeError(f"{value!r} is no answer to what was asked: {asked}")


def _content(asked: Asked, plain: Any) -> dict[str, Any] | None:
    """What a value fills into a form: all its fields, its only one, or none."""
    if isinstance(plain, dict):
        return plain
    if len(asked.fields) == 1 and plain is not None:
        return {next(iter(asked.fields)): plain}
    return {} if plain is True and not asked.fields else None


def _is_field(asked: Asked, kind: str) -> bool:
    return [field.get("type") for field in asked.fields.values()] == [kind]


def answers_from(answers: Answering | Sequence[Any] | None) -> Answers:
    """The answers that a test gave `connect`."""
    made = Answers()
    if callable(answers):
        made.prepare(answers)
    elif answers is not None:
        made.prepare(*answers)
    return made
