"""`subscriptions/listen` (2026-07-28): the filter of a subscription, and its notifications on its own stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

from pegboard.plugin import ProtocolError, encode
from pegboard.types import Call, Change, ItemKind
from pegboard_plugins.protocols.mcp.admitted_streams import seconds_left
from pegboard_plugins.protocols.mcp.change_broadcaster import notification
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.protocols.mcp.revisions import SUBSCRIPTION_ID
from pegboard_plugins.protocols.mcp.session_methods import MAX_SUBSCRIBED_URI_CHARACTERS
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, RequestId, jsonrpc_notification, jsonrpc_result

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.mcp_service import McpService

MAX_SUBSCRIBED_URIS = 1000
"""The largest number of resources in one subscription."""

_FLAGS: Final[Mapping[str, ItemKind]] = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
}
_URIS: Final = "resourceSubscriptions"


class ListenFilter:
    """The requested notifications that the server supports.

    Args:
        wanted: the parameter `notifications` of the request.
        offers: a function that returns True if the server has the list of a kind.
        refused: a function that returns the reason for rejecting a resource, None to accept it.

    Raises:
        ProtocolError: the parameter is invalid.
    """

    __slots__ = ("_kinds", "_uris")

    def __init__(self, wanted: object, offers: Callable[[Any], bool], refused: Callable[[str], object | None]) -> None:
        if type(wanted) is not dict:
            raise ProtocolError(INVALID_PARAMS, "params.notifications must be an object")
        self._kinds = tuple(kind for flag, kind in _FLAGS.items() if _flag(wanted, flag) and offers(kind))
        uris = _uris(wanted)
        has_resources = offers("resources")
        self._uris = {uri: None for uri in uris if has_resources and refused(uri) is None}  # smaller than a set

    @property
    def honoured(self) -> dict[str, Any]:
        """The members of `wanted` that the server supports."""
        flags: dict[str, Any] = {flag: True for flag, kind in _FLAGS.items() if kind in self._kinds}
        return {**flags, _URIS: list(self._uris)} if self._uris else flags

    @property
    def everything(self) -> list[Change]:
        """A change of each list and resource in the filter."""
        return [*(Change(kind) for kind in self._kinds), *(Change("resource", uri) for uri in self._uris)]

    def __contains__(self, change: object) -> bool:
        return isinstance(change, Change) and (
            change.uri in self._uris if change.kind == "resource" else change.kind in self._kinds
        )


def _flag(wanted: Mapping[str, Any], name: str) -> bool:
    value = wanted.get(name, False)
    if type(value) is not bool:
        raise ProtocolError(INVALID_PARAMS, f"params.notifications.{name} must be true or false")
    return value


def _uris(wanted: Mapping[str, Any]) -> list[str]:
    uris = wanted.get(_URIS, [])
    if type(uris) is not list or not all(type(uri) is str for uri in uris):
        raise ProtocolError(INVALID_PARAMS, f"params.notifications.{_URIS} must be a list of URIs")
    if len(uris) > MAX_SUBSCRIBED_URIS:
        raise ProtocolError(
            INVALID_PARAMS, f"params.notifications.{_URIS} may name at most {MAX_SUBSCRIBED_URIS} resources"
        )
    if any(len(uri) > MAX_SUBSCRIBED_URI_CHARACTERS for uri in uris):
        raise ProtocolError(
            INVALID_PARAMS,
            f"params.notifications.{_URIS}: a URI may have at most {MAX_SUBSCRIBED_URI_CHARACTERS} characters",
        )
    return uris


class ClientSubscription:
    """One subscription. Messages wait in its queue until the binding sends the queue.

    A change that already waits is not queued again. The subscription ends when the caller's token expires.

    Args:
        call: the request.
        service: the source of changes.

    Raises:
        ProtocolError: the request is invalid, or requests an extension that its client does not declare.
    """

    __slots__ = ("__weakref__", "_close", "_ending", "_filter", "_held", "_loop", "_service", "queue", "request_id")

    def __init__(self, call: Call, service: McpService) -> None:
        assert call.request_id is not None
        self.request_id: RequestId = call.request_id
        self.queue = MessageQueue()
        self._loop = asyncio.get_running_loop()
        self._service = service
        host = service.host
        self._filter = ListenFilter(
            call.params.get("notifications"), service.offers, lambda uri: host.subscribe(uri, call)
        )
        self._close: Callable[[], None] | None = None
        left = seconds_left(call.caller)
        self._ending = None if left is None else self._loop.call_later(left, self.stop)
        self._held: list[tuple[str, dict[str, Any]]] | None = []
        # from here on no change is missed after the acknowledgement
        service.changes.add(self)
        try:
            begun = service.subscribe(call, call.params["notifications"], self._notify)
        except BaseException:
            self.end()
            raise
        self._close = begun.close
        acknowledged = {"_meta": self._meta, "notifications": {**self._filter.honoured, **begun.honoured}}
        self.queue.send(jsonrpc_notification("notifications/subscriptions/acknowledged", acknowledged), keep=True)
        held, self._held = self._held, None
        for method, params in held:
            self._notify(method, params)

    @property
    def waiting(self) -> int:
        return self.queue.waiting

    @property
    def everything(self) -> list[Change]:
        return self._filter.everything

    @property
    def _meta(self) -> dict[str, object]:
        return {SUBSCRIPTION_ID: self.request_id}

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a plugin's notification, after the acknowledgement."""
        try:
            inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            inside = False
        if not inside:
            self._loop.call_soon_threadsafe(self._notify, method, params)
            return
        if self._held is not None:
            self._held.append((method, params))
            return
        if self.queue.full:
            self.stop()  # ending it is better than gaps that the client cannot see
            return
        meta = {**params.get("_meta", {}), **self._meta}
        self.queue.send(jsonrpc_notification(method, {**params, "_meta": meta}))

    def changed(self, changes: Iterable[Change]) -> None:
        """Queue notifications of changes that match the filter."""
        for change in changes:
            if change in self._filter:
                self.queue.send(notification(change, self._meta), key=change)

    def stop(self) -> None:
        """End the subscription with its response."""
        if not self.queue.closed:
            self.queue.send(self.response, keep=True)
            self.queue.close()
        self.end()

    @property
    def response(self) -> bytes:
        """The response with which the server ends the subscription."""
        result = {"resultType": "complete", "_meta": self._meta | self._service.server_info}
        return jsonrpc_result(self.request_id, encode(result))

    def end(self) -> None:
        """Stop listening for changes after the client or the server ended the subscription."""
        if self._ending is not None:
            self._ending.cancel()
        self._service.changes.remove(self)
        close, self._close = self._close, None
        if close is not None:
            close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return the next message of the subscription as an event stream."""
        while (message := self.queue.pop()) is None:
            if self.queue.closed:
                raise StopAsyncIteration
            await self.queue.wait()
        return message

    async def aclose(self) -> None:
        """End the subscription. The client has disconnected or read the whole stream."""
        self.cancel()

    def cancel(self) -> None:
        """End the subscription without a message."""
        self.queue.close(drop=True)
        self.end()
