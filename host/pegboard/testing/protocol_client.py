"""A client of one revision of MCP: handshake, `_meta`, rounds of questions and notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.client.asked import Asked
from pegboard.errors import ProtocolError
from pegboard.testing.answers import Answers
from pegboard.testing.client_connection import ClientConnection, Message, result_or_raise
from pegboard.testing.replay import Replay
from pegboard.types.callers import EMPTY, Caller

STATELESS_REVISION = "2026-07-28"
"""The first revision without sessions."""

_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "pegboard.testing", "version": "1"}
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

Accepts = Callable[[Message], bool]


class ProtocolClient:
    """The protocol of a client.

    Args:
        caller: the caller that the host sees.
        revision: the revision that the client speaks.
        capabilities: the capabilities that the client declares.
        answers: its answers.
        seconds: how long a request may take, None for no limit.

    Attributes:
        connection: the connection.
        notifications: every notification of the host, as it was received.
        meta: members that are added to the `_meta` of each request.
    """

    def __init__(
        self,
        caller: Caller,
        revision: str,
        capabilities: Mapping[str, Any],
        answers: Answers,
        seconds: float | None,
    ) -> None:
        self.connection = ClientConnection(self._answer_in_session, self._hear)
        self.revision = revision
        self.capabilities = dict(capabilities)
        self.answers = answers
        self.seconds = seconds
        self.notifications: list[Message] = []
        self.meta: dict[str, Any] = {}
        self._listeners: list[tuple[Accepts, asyncio.Future[Message]]] = []

    @property
    def modern(self) -> bool:
        """True if the revision has no sessions."""
        return self.revision >= STATELESS_REVISION

    async def begin(self) -> None:
        """Perform the handshake, if the revision has one.

        Raises:
            ValueError: the host does not speak the revision.
        """
        if self.modern:
            await self.request("server/discover", {})
            return
        opening = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": _CLIENT}
        answer = await self.connection.request("initialize", opening, self.connection.new_id(), self.seconds)
        if answer["protocolVersion"] != self.revision:
            raise ValueError(f"the host does not speak {self.revision}; it offers {answer['protocolVersion']}")
        self.notify("notifications/initialized", {})
        await self.request("logging/setLevel", {"level": "debug"})

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self.connection.send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def request(self, method: str, params: Mapping[str, Any], request_id: int | None = None) -> Message:
        """Send one request and return its result.

        Raises:
            ProtocolError: the host rejected the request.
            TimeoutError: no response arrived.
        """
        request_id = self.connection.new_id() if request_id is None else request_id
        sent = self._with_meta(params, {"progressToken": request_id})
        return await self.connection.request(method, sent, request_id, self.seconds)

    async def finish(self, method: str, params: Mapping[str, Any], replay: Replay | None = None) -> tuple[int, Message]:
        """Send a call. While the response asks questions, repeat the call with answers.

        Args:
            method: a method that may ask questions.
            params: its parameters.
            replay: the check of repeated effects.

        Returns:
            The id of the last request, and its result.

        Raises:
            RepeatedEffects: a round repeated an effect of an earlier one.
        """
        more: Message = {}
        while True:
            request_id = self.connection.new_id()
            if replay is not None:
                replay.begin(request_id)
            result = await self.request(method, {**params, **more}, request_id)
            if replay is not None:
                replay.check()
            if result.get("resultType") != "input_required":
                return request_id, result
            more = {key: result[key] for key in ("requestState",) if key in result}
            more["inputResponses"] = {
                key: await self._answer_in_round(Asked(one["method"], one.get("params", {}), key))
                for key, one in result["inputRequests"].items()
            }

    async def heard(self, accepts: Accepts, what: str) -> Message:
        """Return a matching notification that was received, or wait for it.

        Raises:
            TimeoutError: the notification did not arrive.
        """
        for one in self.notifications:
            if accepts(one):
                return one
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        listener = (accepts, future)
        self._listeners.append(listener)
        try:
            async with asyncio.timeout(self.seconds):
                return await future
        except TimeoutError:
            raise TimeoutError(f"no {what} within {self.seconds:g} seconds") from None
        finally:
            self._listeners.remove(listener)

    async def listen(self, uris: tuple[str, ...]) -> None:
        """Subscribe to changes of all lists and of some resources."""
        if not self.modern:
            for uri in uris:
                await self.request("resources/subscribe", {"uri": uri})
            return
        wanted: Message = {f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources")}
        params = self._with_meta({"notifications": {**wanted, "resourceSubscriptions": list(uris)}})
        request_id = self.connection.new_id()
        refused = self.connection.begin("subscriptions/listen", params, request_id)
        acknowledged = asyncio.create_task(self.heard(_acknowledges(request_id), "acknowledgement of the subscription"))
        await asyncio.wait((refused, acknowledged), return_when=asyncio.FIRST_COMPLETED)
        if refused.done():
            acknowledged.cancel()
            result_or_raise(refused.result())
        await acknowledged

    async def _answer_in_round(self, asked: Asked) -> Message:
        try:
            return await self.answers.answer(asked)
        except ProtocolError as error:
            raise AssertionError(f"no client can answer the question: {error.message}") from None

    async def _answer_in_session(self, method: str, params: Message) -> Message:
        return await self.answers.answer(Asked(method, params))

    def _hear(self, method: str, params: Message) -> None:
        told = {"method": method, "params": params}
        self.notifications.append(told)
        for accepts, future in self._listeners:
            if not future.done() and accepts(told):
                future.set_result(told)

    def _with_meta(self, params: Mapping[str, Any], meta: Mapping[str, Any] = EMPTY) -> Message:
        own: Message = {}
        if self.modern:
            own = {
                f"{_META}protocolVersion": self.revision,
                f"{_META}clientCapabilities": self.capabilities,
                f"{_META}clientInfo": _CLIENT,
                f"{_META}logLevel": "debug",
            }
        return {**params, "_meta": {**own, **meta, **self.meta, **params.get("_meta", {})}}


def _acknowledges(request_id: int) -> Accepts:
    def accepts(told: Message) -> bool:
        meta = told["params"].get("_meta", EMPTY)
        return bool(told["method"] == _ACKNOWLEDGED and meta.get(f"{_META}subscriptionId") == request_id)

    return accepts
