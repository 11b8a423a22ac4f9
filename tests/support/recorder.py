"""The recorder: checks every message that the host sends in any test against the official schema.

A `Conversation` follows one connection. It receives each line in either direction, and knows which request a response
belongs to and the revision of that request. It raises `SchemaMismatch` for a line that a server must not send. It opens
no connection: `Peer` and `Wire` feed it while they read, and `replay` feeds it the record of the tee.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.support import rules
from tests.support.schemas import LEGACY, MODERN, SchemaMismatch

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
BATCHES = "2025-03-26"
"""The only revision with JSON-RPC batches."""

IdKey = tuple[str, Any]


@dataclass(eq=False)
class Asked:
    """A request of the client."""

    method: str
    params: dict[str, Any]
    modern: bool
    cancelled: bool = False
    progress: list[float] = field(default_factory=list)
    acknowledged: bool = False

    @property
    def token(self) -> Any:
        """Its progress token, None without one."""
        meta = self.params.get("_meta")
        return meta.get("progressToken") if isinstance(meta, dict) else None


class Conversation:
    """One connection between a client and the host.

    Attributes:
        revision: the revision that `initialize` agreed on, None before.
        checked: the number of checked messages.
        added: the additions of extensions.
    """

    def __init__(self) -> None:
        self.added = rules.NOTHING_ADDED
        self.revision: str | None = None
        self.checked = 0
        self._open: dict[IdKey, list[Asked]] = {}
        self._output_schemas: dict[tuple[bool, str], dict[str, Any]] = {}

    def sent(self, line: bytes) -> None:
        """Record a line of the client. It may be invalid, as tests send invalid lines."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, dict) and "result" not in item and "error" not in item:
                self._note(item)

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        named = params if isinstance(params, dict) else {}
        if "id" in message and "method" in message:
            request = Asked(str(message["method"]), named, _is_modern(params))
            self._open.setdefault(id_key(message["id"]), []).append(request)
        elif message.get("method") == "notifications/cancelled":
            for request in self._open.get(id_key(named.get("requestId")), ()):
                request.cancelled = True  # an answer may still be under way, but its id and token are free again

    def received(self, line: bytes) -> Any:
        """Check a line of the host and return its message.

        Raises:
            SchemaMismatch: a server must not send this here.
        """
        message = rules.decode(line)
        if isinstance(message, list):
            self._check_batch(message)
        else:
            self._check(message)
        return message

    def _check_batch(self, batch: list[Any]) -> None:
        if self.revision != BATCHES or not batch:
            raise SchemaMismatch(f"a batch of {len(batch)} in {self.revision}")
        for message in batch:
            if rules.shape(message) not in {"result", "error"}:
                raise SchemaMismatch("a batch of answers holds something else")
            self._check(message)

    def _check(self, message: dict[str, Any]) -> None:
        kind = rules.shape(message)
        if kind in {"result", "error"}:
            self._check_answer(kind, message)
        else:
            self._check_own(kind, message)
        self.checked += 1

    def _check_answer(self, kind: str, message: dict[str, Any]) -> None:
        request = self._take(message.get("id"))
        if request is None and (kind == "result" or message.get("id") is not None):
            raise SchemaMismatch(f"an answer nobody waits for: {message!r:.200}")
        revision = self._revision_of(request)
        if kind == "error":
            rules.check_error(revision, message, self.added, request_waits=any(self._open.values()))
            return
        assert request is not None
        if request.method == "initialize" and not request.modern:
            revision = self._agree(message["result"])
        rules.check_result(revision, request.method, message, self.added)
        self._check_tools(request, message["result"])

    def _agree(self, result: Any) -> str:
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if version not in LEGACY:
            raise SchemaMismatch(f"initialize answered with protocolVersion {version!r}")
        agreed: str = version
        self.revision = agreed
        return agreed

    def _check_tools(self, request: Asked, result: dict[str, Any]) -> None:
        if request.method == "tools/list":
            for tool in result["tools"]:
                if "outputSchema" in tool:
                    self._output_schemas[request.modern, tool["name"]] = tool["outputSchema"]
        elif request.method == "tools/call":
            name = str(request.params.get("name"))
            schema = self._output_schemas.get((request.modern, name))
            if schema is not None and result.get("resultType", "complete") == "complete":
                rules.check_structured(schema, result, name)

    def _check_own(self, kind: str, message: dict[str, Any]) -> None:
        request = self._progressing(message) if message["method"] == "notifications/progress" else None
        request = request or self._listening(message)
        revision = self._revision_of(request) if request or self.revision else MODERN[-1]
        if kind == "request" and self.revision is None:
            raise SchemaMismatch(f"a request of the server without a session: {message!r:.200}")
        rules.check_sent(revision, kind, message, self.added)
        if message["method"] == "notifications/progress":
            assert request is not None
            progress = message["params"]["progress"]
            if request.progress and progress <= request.progress[-1]:
                raise SchemaMismatch(f"progress went from {request.progress[-1]} to {progress}")
            request.progress.append(progress)

    def _listening(self, message: dict[str, Any]) -> Asked | None:
        """The subscription that a message belongs to, None for one of no subscription (2026-07-28)."""
        name, meta = message["method"], message.get("params", {}).get("_meta", {})
        if SUBSCRIPTION_KEY not in meta:
            is_change = name == "notifications/resources/updated" or name.endswith("/list_changed")
            if name == ACKNOWLEDGED or (is_change and self.revision is None):
                raise SchemaMismatch(f"{name} of no subscription")
            return None
        waiting = self._open.get(id_key(meta[SUBSCRIPTION_KEY]), [])
        request = next(
            (request for request in reversed(waiting) if request.method == "subscriptions/listen" and request.modern),
            None,
        )
        if request is None or request.cancelled:
            raise SchemaMismatch(f"{name} of a subscription that there is not: {meta[SUBSCRIPTION_KEY]!r}")
        if request.acknowledged == (name == ACKNOWLEDGED):
            raise SchemaMismatch(f"{name} {'again' if request.acknowledged else 'before the acknowledgement'}")
        request.acknowledged = True
        return request

    def _progressing(self, message: dict[str, Any]) -> Asked:
        token = message.get("params", {}).get("progressToken")
        for request in sorted(
            (request for many in self._open.values() for request in many), key=lambda request: request.cancelled
        ):
            if token is not None and id_key(request.token) == id_key(token):
                return request
        raise SchemaMismatch(f"progress for {token!r}, which no request in flight gave")

    def _take(self, request_id: Any) -> Asked | None:
        """Return the request of a response: the last request with its id."""
        waiting = self._open.get(id_key(request_id), [])
        if not waiting:
            return None
        live = [request for request in waiting if not request.cancelled] or waiting
        request = live[-1]
        waiting.remove(request)
        return request

    def _revision_of(self, request: Asked | None) -> str:
        return MODERN[-1] if request is not None and request.modern else self.revision or LEGACY[-1]


def replay(record: Iterable[bytes]) -> Conversation:
    """Check the record of a tee: each line is `>` or `<` (client or host) and the message."""
    conversation = Conversation()
    for line in record:
        if line[:1] == b">":
            conversation.sent(line[1:])
        elif line[:1] == b"<":
            conversation.received(line[1:])
    return conversation


def id_key(request_id: Any) -> IdKey:
    """Return a key that distinguishes 1, "1", 1.0 and true, as JSON-RPC does."""
    return type(request_id).__name__, request_id if isinstance(request_id, str | int | float) else repr(request_id)


def _is_modern(params: Any) -> bool:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta
