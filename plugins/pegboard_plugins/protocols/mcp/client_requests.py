"""Requests of the server to its client in a session: their ids, responses and cancellation.

The binding decides which messages belong to the client.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pegboard import ClientCapabilityError, ClientError
from pegboard.errors import ClientTimeoutError
from pegboard.plugin import encode
from pegboard_plugins.protocols.mcp.revisions import since
from pegboard_plugins.support.jsonrpc import jsonrpc_notification

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports

MAX_PENDING_REQUESTS = 100
"""The largest number of requests to one client that wait for a response."""
MAX_WAIT_SECONDS = 3600.0
"""The longest wait for a response. Callers can request a shorter wait only."""
MAX_ERROR_CHARACTERS = 1000
"""The maximum length of a client's error message that a model receives."""

_COUNT_BITS = 20
"""The number of ids in a block, as a power of 2."""

OnProgress: TypeAlias = Callable[[float, float | None, str | None], None]
"""Receive the progress of a request: the progress, the total, and a message."""

logger = logging.getLogger("pegboard.mcp")


class CallChannel(Protocol):
    """The channel for the messages of one call.

    Attributes:
        progress: the call's progress reports, if its client requests them.
    """

    progress: ProgressReports | None

    @property
    def open(self) -> bool:
        """True if messages of the call may still be sent."""

    def send(self, message: bytes, *, keep: bool = False) -> None:
        """Queue a message, from any thread. A message with `keep` is never dropped."""


class _PendingRequest:
    """A request that waits for its response."""

    __slots__ = ("answer", "channel", "clock", "last", "progress", "reset_seconds", "until", "withdrawn")

    def __init__(
        self, channel: CallChannel, progress: OnProgress | None, reset_seconds: float | None, until: float
    ) -> None:
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.channel = channel
        self.progress = progress
        self.reset_seconds = reset_seconds
        self.until = until
        self.clock: asyncio.Timeout | None = None
        self.last: float | None = None
        self.withdrawn = False

    def fail(self, error: ClientError) -> None:
        """End the wait with an error."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # marks it as retrieved: the waiting task may be cancelled at the same time


class ClientRequestIds:
    """A generator of ids for requests to clients. No other process generates the same ids.

    A session may outlive its process, and another process may receive a response. Ids are below 2**53, the limit of
    exact JSON numbers.

    Args:
        number: returns the number of this process among those that share sessions; 0 if it is alone.
    """

    def __init__(self, number: Callable[[], int] = int) -> None:
        self._number = number
        self._begins: set[int] = set()
        self._begin = 0
        self._count = 0

    def __next__(self) -> int:
        begin = self._number() or self._begin
        if begin not in self._begins:
            if not begin:
                import secrets  # needed with the first question

                begin = self._begin = secrets.randbits(53 - _COUNT_BITS - 1)
            self._begins.add(begin)
        self._count += 1
        return begin << _COUNT_BITS | self._count % (1 << _COUNT_BITS)

    def __contains__(self, request_id: object) -> bool:
        """Return True if this process may have generated the id."""
        return self.process_of(request_id) in self._begins

    @staticmethod
    def process_of(request_id: object) -> int:
        """Return the number of the process that generated an id. Return -1 for other values."""
        return request_id >> _COUNT_BITS if type(request_id) is int else -1


class ClientRequests:
    """The requests to one client that wait for a response. Use it only in the event loop's thread.

    Args:
        ids: the generator of request ids.
    """

    __slots__ = ("_closed", "_ids", "_open")

    def __init__(self, ids: ClientRequestIds) -> None:
        self._ids = ids
        self._open: dict[int, _PendingRequest] = {}
        self._closed = False

    async def ask(
        self,
        channel: CallChannel,
        revision: str,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - each report of progress may begin it anew
        progress: OnProgress | None = None,
        reset_on_progress: bool = False,
        max_total: float | None = None,
    ) -> dict[str, Any]:
        """Send a request on a channel and wait for its result, as `pegboard.types.Ask` describes.

        Raises:
            ClientTimeoutError: no response arrived in time. The request is then cancelled.
            ClientError: the client returned an error or an invalid response, or disconnected.
        """
        if self._closed or not channel.open:
            raise _gone()
        if len(self._open) >= MAX_PENDING_REQUESTS:
            raise ClientError(f"The client already has {MAX_PENDING_REQUESTS} requests to answer.")
        params = in_revision(method, params, revision)
        request_id = next(self._ids)
        until = asyncio.get_running_loop().time() + min(max_total or MAX_WAIT_SECONDS, MAX_WAIT_SECONDS)
        opened = _PendingRequest(channel, progress, timeout if reset_on_progress else None, until)
        self._open[request_id] = opened
        if progress is not None or reset_on_progress:
            params = {**params, "_meta": {**params.get("_meta", {}), "progressToken": request_id}}
        try:
            channel.send(encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}), keep=True)
            return await _answer(opened, timeout)
        except ClientTimeoutError:
            _withdraw(request_id, opened, "no answer in time")
            raise
        except asyncio.CancelledError:
            _withdraw(request_id, opened, "no longer needed")
            raise
        finally:
            del self._open[request_id]

    def settle(self, message: dict[str, Any]) -> None:
        """Handle a response of the client. Ignore a response to an unknown request, because it may be late."""
        opened = self._find(message.get("id"))
        if opened is None:
            logger.debug("ignored a response to an unknown request")
        elif "error" in message:
            opened.fail(_error(message))
        elif type(message.get("result")) is not dict:
            opened.fail(_unreadable("the result is not an object"))
        elif not opened.answer.done():
            opened.answer.set_result(message["result"])

    def report_progress(self, params: Any) -> None:
        """Handle a progress notification of the client. Ignore unknown tokens and progress that does not increase."""
        opened = self._find(params.get("progressToken")) if isinstance(params, dict) else None
        if opened is None or not _is_number(params.get("progress")):
            return
        progress = params["progress"]
        if opened.last is not None and progress <= opened.last:
            return
        opened.last = progress
        if opened.reset_seconds is not None and opened.clock is not None and not opened.clock.expired():
            now = asyncio.get_running_loop().time()
            opened.clock.reschedule(min(now + opened.reset_seconds, opened.until))
        if opened.progress is not None:
            total, message = params.get("total"), params.get("message")
            try:
                opened.progress(
                    progress,
                    total if _is_number(total) else None,
                    message if isinstance(message, str) else None,
                )
            except Exception:
                logger.exception("the progress callback of a tool failed")

    def withdraw(self, channel: CallChannel) -> None:
        """Cancel the requests to the client of a call that ends. The call's channel must still accept messages."""
        for request_id, opened in self._open.items():
            if opened.channel is channel:
                _withdraw(request_id, opened, "the call has ended")
                opened.fail(_gone())

    def close(self) -> None:
        """End the session: fail waiting requests and reject new requests."""
        self._closed = True
        for opened in self._open.values():
            opened.withdrawn = True
            opened.fail(_gone())

    def _find(self, request_id: object) -> _PendingRequest | None:
        return self._open.get(request_id) if type(request_id) is int else None


async def _answer(opened: _PendingRequest, seconds: float | None) -> dict[str, Any]:
    now = asyncio.get_running_loop().time()
    until = opened.until if seconds is None else min(now + seconds, opened.until)
    try:
        async with asyncio.timeout_at(until) as opened.clock:
            return await opened.answer
    except TimeoutError as error:
        if opened.clock is None or not opened.clock.expired():
            raise
        raise ClientTimeoutError("The client did not answer in time.") from error


def _withdraw(request_id: int, opened: _PendingRequest, reason: str) -> None:
    if not opened.withdrawn and opened.channel.open:
        opened.withdrawn = True
        notice = {"requestId": request_id, "reason": reason}
        opened.channel.send(jsonrpc_notification("notifications/cancelled", notice), keep=True)


def _gone() -> ClientError:
    return ClientError("The client no longer waits for this call.")


def _error(message: dict[str, Any]) -> ClientError:
    error = message["error"]
    if "result" in message or type(error) is not dict:
        return _unreadable("neither a result nor an error, or both")
    code, text = error.get("code"), error.get("message")
    if type(code) is not int or type(text) is not str:
        return _unreadable("an error without code or message")
    return ClientError(text[:MAX_ERROR_CHARACTERS], code=code, data=error.get("data"))


def _unreadable(why: str) -> ClientError:
    return ClientError("The client sent an invalid response.", f"the client's response: {why}")


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


# --- The parameters of requests to clients, converted from the newest revision to a session's revision.


def in_revision(method: str, params: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return the parameters of a request to the client, as the client's revision defines them.

    Raises:
        ClientCapabilityError: the revision does not have the request.
        ClientError: the parameters cannot be expressed in the revision.
    """
    if method == "elicitation/create":
        return _elicitation(params, revision)
    if method == "sampling/createMessage" and not since(revision, "2025-11-25"):
        return _plain_sampling(params, revision)
    return params


def _elicitation(params: dict[str, Any], revision: str) -> dict[str, Any]:
    mode = params.get("mode", "form")
    if not since(revision, "2025-11-25" if mode == "url" else "2025-06-18"):
        raise ClientCapabilityError(f"elicitation.{mode}")
    if mode == "url":
        import secrets  # few calls need it

        return {**params, "elicitationId": secrets.token_urlsafe(16)}
    if since(revision, "2025-11-25"):
        return params
    schema = params["requestedSchema"]
    properties = {name: _plain_field(name, field) for name, field in schema["properties"].items()}
    return {"message": params["message"], "requestedSchema": {**schema, "properties": properties}}


def _plain_field(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form field in the format of 2025-06-18: choice names in a separate list, single choice only."""
    if field["type"] == "array":
        raise ClientError(f"The field {name} cannot be sent: the client's revision has no multiple choice.")
    titled = field.get("oneOf")
    if titled is None:
        return dict(field)
    plain = {key: value for key, value in field.items() if key != "oneOf"}
    return plain | {"enum": [choice["const"] for choice in titled], "enumNames": [choice["title"] for choice in titled]}


def _plain_sampling(params: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return parameters in the format before 2025-11-25: no tools, one content block per message."""
    if "tools" in params or "toolChoice" in params:
        raise ClientCapabilityError("sampling.tools")
    return {**params, "messages": [_plain_message(message, revision) for message in params["messages"]]}


def _plain_message(message: Mapping[str, Any], revision: str) -> Mapping[str, Any]:
    content = message["content"]
    if isinstance(content, list):
        if len(content) != 1:
            raise ClientError("The client's revision allows only one content block per sampling message.")
        content = content[0]
    kind = content["type"]
    if kind in ("tool_use", "tool_result"):
        raise ClientCapabilityError("sampling.tools")
    if kind == "audio" and not since(revision, "2025-03-26"):
        raise ClientError("The client's revision does not support audio in sampling messages.")
    return {**message, "content": content}
