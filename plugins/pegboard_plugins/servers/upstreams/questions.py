"""Questions of mounted servers, for the client of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pegboard import Context
from pegboard.plugin import ProtocolError, text_problems
from pegboard.types import Question
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from pegboard_plugins.support.loopback import is_loopback

CAPABILITIES: Mapping[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {},
}
"""The capabilities for questions that the host passes on, with their details."""

MAX_QUESTIONS = 20
"""The maximum number of questions that a server may ask at once."""
MAX_MESSAGE_CHARACTERS = 16 * 1024
"""The maximum length of a message to the person."""

FIRST_STATELESS_REVISION = "2026-07-28"

_PRIVATE = ("_meta", "task", "elicitationId")
"""Parameters that belong to the connection between the host and the server."""


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


class QuestionRules:
    """The questions that one server may ask. Each question names the server, because the host passes it on.

    Args:
        server: the name of the server.
        config: its settings.

    Attributes:
        server: the name of the server.
    """

    def __init__(self, server: str, config: ServerConfig) -> None:
        self.server = server
        allowed = {"elicitation": config.questions, "sampling": config.sampling, "roots": config.questions}
        self._allowed = frozenset(name for name, is_allowed in allowed.items() if is_allowed)

    def refusal(self, capability: str) -> str:
        """Return the reason why the settings forbid a capability such as "sampling.tools"; "" if they allow it."""
        name = capability.partition(".")[0]
        if name in self._allowed or name not in CAPABILITIES:
            return ""
        key = "sampling" if name == "sampling" else "questions"
        return f"the settings do not allow {name}; set {key} = true in [plugins.upstreams.servers.{self.server}]"

    def capabilities(self, declared: Mapping[str, Any] = CAPABILITIES) -> dict[str, Any]:
        """Return the capabilities for questions to declare to the server.

        Args:
            declared: the capabilities of the client; by default all, for a connection that clients share.
        """
        selected = {name: declared.get(name) for name in CAPABILITIES if name in self._allowed} if declared else {}
        return {name: _details(name, details) for name, details in selected.items() if isinstance(details, Mapping)}

    def question(self, context: Context[Any], method: object, params: object) -> UpstreamQuestion:
        """Return a question for the client of a call. Leave out parameters of the connection.

        Raises:
            ProtocolError: the question is unknown, invalid or forbidden, or could deceive the person.
        """
        members = params if isinstance(params, Mapping) else {}
        kept = {name: value for name, value in members.items() if name not in _PRIVATE}
        if method == "elicitation/create":
            kept = self._elicitation(kept)
        elif method == "sampling/createMessage":
            kept = self._sampling(kept)
            if not declares(context, "sampling.context"):
                kept.pop("includeContext", None)
        elif method != "roots/list":
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
        question = UpstreamQuestion(str(method), kept)
        if reason := self.refusal(question.needs()):
            raise ProtocolError(INVALID_PARAMS, reason)
        return question

    def page(self, context: Context[Any], params: object) -> dict[str, Any]:
        """Return a page that the client of a call must open before it repeats the call (error -32042).

        Raises:
            ProtocolError: the page is invalid or forbidden, or the client does not open pages for errors.
        """
        if not isinstance(params, Mapping) or params.get("mode") != "url":
            raise ProtocolError(INVALID_PARAMS, "the server's request to open a page is invalid")
        if asks_in_rounds(context) or not declares(context, "elicitation.url"):
            raise ProtocolError(INVALID_PARAMS, "the client does not open pages for errors")
        if reason := self.refusal("elicitation"):
            raise ProtocolError(INVALID_PARAMS, reason)
        return self._elicitation(params)

    def _elicitation(self, params: Mapping[str, Any]) -> dict[str, Any]:
        params = {"mode": "form", **params}
        message, url = params.get("message"), params.get("url")
        is_valid = _is_form(params) if params["mode"] == "form" else params["mode"] == "url" and isinstance(url, str)
        if not is_valid or not isinstance(message, str):
            raise ProtocolError(INVALID_PARAMS, "invalid parameters of elicitation/create")
        if len(message) > MAX_MESSAGE_CHARACTERS:
            limit = f"the limit is {MAX_MESSAGE_CHARACTERS:,}"
            raise ProtocolError(INVALID_PARAMS, f"the message has {len(message):,} characters, {limit}")
        if params["mode"] == "url" and not is_safe_link(str(url)):
            raise ProtocolError(INVALID_PARAMS, "the url must start with https://, or be a loopback address")
        _check_texts(params)
        return {**params, "message": f"{self.server} asks: {message}"}

    def _sampling(self, params: Mapping[str, Any]) -> dict[str, Any]:
        messages, prompt = params.get("messages"), params.get("systemPrompt", "")
        if not isinstance(messages, list) or not all(map(_is_message, messages)) or not isinstance(prompt, str):
            raise ProtocolError(INVALID_PARAMS, "invalid parameters of sampling/createMessage")
        _check_texts(params)
        return {**params, "systemPrompt": f"{self.server} asks: {prompt}" if prompt else f"{self.server} asks this."}


def _details(name: str, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known details of a capability, such as "url" of elicitation."""
    return {detail: {} for detail in CAPABILITIES[name] if isinstance(declared.get(detail), Mapping)}


def _check_texts(params: Mapping[str, Any]) -> None:
    """Apply the check of definitions to all texts of a question.

    Raises:
        ProtocolError: a text has invisible characters, or characters that change the order of text.
    """
    for path, problem in text_problems(params):
        raise ProtocolError(INVALID_PARAMS, f"{'.'.join(map(str, path)) or 'the question'!a} {problem}")


def is_safe_link(url: str) -> bool:
    """Return True for a page that the person may open: with https, or at a loopback address.

    A link with a user name could hide its host, and programs read a backslash in different ways.
    """
    try:
        parts = urlsplit(url)
        is_link = bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        return False
    if not is_link or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(str(parts.hostname)))


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
        isinstance(option, Mapping) and {"const", "title"} <= option.keys() for option in options
    )


def _is_message(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else [content]
    return all(isinstance(block, Mapping) and isinstance(block.get("type"), str) for block in blocks)
