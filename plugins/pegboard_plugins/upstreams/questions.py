"""Questions of mounted servers, for the client of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard import Context
from pegboard.plugin import INVALID_PARAMS, METHOD_NOT_FOUND, ProtocolError
from pegboard.types import Question

CAPABILITIES: Mapping[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {},
}
"""The capabilities of a connection with a session, which serves clients with different capabilities.

A question that the client of a call does not support is refused.
"""

MAX_QUESTIONS = 20
"""The maximum number of questions that a server may ask at once."""

FIRST_STATELESS_REVISION = "2026-07-28"

_PRIVATE = ("_meta", "task", "elicitationId")
"""Parameters that belong to the connection between the host and the server."""


def declared_capabilities(context: Context[Any]) -> dict[str, Any]:
    """Return the capabilities for questions that the client of a call declares."""
    declared = context.client.capabilities
    return {name: declared[name] for name in CAPABILITIES if isinstance(declared.get(name), Mapping)}


def declares(context: Context[Any], capability: str) -> bool:
    """Return True if the client of a call declares a capability such as "elicitation.url"."""
    name, _, detail = capability.partition(".")
    declared = context.client.capabilities.get(name)
    if not isinstance(declared, Mapping):
        return False
    if capability == "elicitation.form" and not declared.keys() & {"form", "url"}:
        return True  # before 2025-11-25 there are only forms
    return not detail or isinstance(declared.get(detail), Mapping)


def asks_in_rounds(context: Context[Any]) -> bool:
    """Return True if a call ends with its questions, and is repeated with the answers."""
    return context.client.revision >= FIRST_STATELESS_REVISION


class UpstreamQuestion(NamedTuple):
    """A question of a server. The client's answer passes unchanged."""

    method: str
    params: dict[str, Any]

    def needs(self) -> str:
        """Return the capability that the client must declare."""
        if self.method == "elicitation/create":
            return f"elicitation.{self.params['mode']}"
        if self.method == "sampling/createMessage":
            return "sampling.tools" if self.params.keys() & {"tools", "toolChoice"} else "sampling"
        return "roots"

    def question(self) -> Question:
        """Return the question for the client."""
        return Question(self.method, self.params)

    def parse(self, answer: Any) -> dict[str, Any]:
        """Return the answer. Raise ValueError if it is not an object."""
        if not isinstance(answer, Mapping):
            raise ValueError("it must be an object")
        return dict(answer)


def question_of(method: object, params: object) -> UpstreamQuestion:
    """Return a question of a server, without parameters of the connection.

    Raises:
        ProtocolError: the question is unknown or invalid.
    """
    given = params if isinstance(params, Mapping) else {}
    kept = {name: value for name, value in given.items() if name not in _PRIVATE}
    if method == "elicitation/create":
        kept = {"mode": "form", **kept}
        valid = _is_form(kept) if kept["mode"] == "form" else kept["mode"] == "url" and isinstance(kept.get("url"), str)
        valid = valid and isinstance(kept.get("message"), str)
    elif method == "sampling/createMessage":
        messages = kept.get("messages")
        valid = isinstance(messages, list) and all(map(_is_message, messages))
    elif method == "roots/list":
        valid = True
    else:
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
    if not valid:
        raise ProtocolError(INVALID_PARAMS, f"invalid parameters of {method}")
    return UpstreamQuestion(str(method), kept)


def _is_form(params: Mapping[str, Any]) -> bool:
    schema = params.get("requestedSchema")
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    return isinstance(fields, Mapping) and all(
        isinstance(field, Mapping) and isinstance(field.get("type"), str) and _has_valid_options(field)
        for field in fields.values()
    )


def _has_valid_options(field: Mapping[str, Any]) -> bool:
    options = field.get("oneOf", [])
    return isinstance(options, list) and all(
        isinstance(one, Mapping) and {"const", "title"} <= one.keys() for one in options
    )


def _is_message(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else [content]
    return all(isinstance(block, Mapping) and isinstance(block.get("type"), str) for block in blocks)
