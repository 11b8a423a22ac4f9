"""Notifications and requests of a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias

from pegboard.errors import ProtocolError
from pegboard.wire.meta_keys import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND
from pegboard_client.addresses import ClientLimits
from pegboard_client.asked import CAPABILITY_OF, Asked, QuestionHandler
from pegboard_client.in_flight import InFlight, Message

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_OF_REQUESTS = (ACKNOWLEDGED, "notifications/tasks")
"""The notifications for the request that has subscribed to them."""
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

logger = logging.getLogger("pegboard.client")

OnNotification: TypeAlias = Callable[[str, Message], None]
"""Receives the method and the parameters of each notification except progress."""
Respond: TypeAlias = Callable[[Message], Awaitable[None]]
"""Sends the response to a request of the server."""


class Incoming:
    """Handles the notifications and requests of a server for its client.

    Args:
        label: the name of the server in messages.
        ask: answers questions, except those of requests that have their own function.
        roots: the roots of the client; None if it has none.
        on_notification: receives notifications.
        limits: the limits.

    Attributes:
        in_flight: the requests that wait for a response, by id.
    """

    def __init__(
        self,
        label: str,
        ask: QuestionHandler | None,
        roots: Sequence[Mapping[str, Any]] | None,
        on_notification: OnNotification | None,
        limits: ClientLimits,
    ) -> None:
        self.label = label
        self.in_flight: dict[int, InFlight] = {}
        self._ask = ask
        self._roots = roots
        self._on_notification = on_notification
        self._limits = limits
        self._answering: dict[Any, asyncio.Task[None]] = {}
        self._reported: set[str] = set()

    @property
    def hears(self) -> bool:
        """True if a function receives notifications."""
        return self._on_notification is not None

    def take(self, message: Any, respond: Respond, flight: InFlight | None = None) -> None:
        """Handle one message of the server that is not the response to `flight`. Never raise.

        Args:
            message: the decoded message.
            respond: sends a response.
            flight: the request on whose own stream the message arrived; None for a shared stream.
        """
        if isinstance(message, list):
            for item in message:
                self.take(item, respond, flight)
            return
        if not isinstance(message, dict):
            self.report("sent a message that is not a JSON object", message)
            return
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            self._take_response(message)
        elif "id" in message:
            self._take_request(message["id"], method, params if isinstance(params, dict) else {}, respond, flight)
        else:
            self.notify(method, params if isinstance(params, dict) else {})

    def notify(self, method: str, params: Message) -> None:
        """Pass on a notification."""
        if method == "notifications/progress":
            self._take_progress(params)
            return
        if method == "notifications/cancelled":
            request_id = params.get("requestId")
            task = self._answering.get(request_id) if isinstance(request_id, int | str) else None
            if task is not None:
                task.cancel()
                return
        if method in _OF_REQUESTS and (flight := self._subscribed(params)) is not None and flight.notified is not None:
            flight.notified(method, params)
            return
        if self._on_notification is not None:
            try:
                self._on_notification(method, params)
            except Exception:
                logger.exception("the handler of the notification %s failed", method)

    def close(self) -> None:
        """Cancel the questions that are still open."""
        for task in self._answering.values():
            task.cancel()

    async def answer(self, question: Asked, own: QuestionHandler | None) -> Message:
        """Return the result for a question.

        Args:
            asked: the question.
            own: the function of the request that the question belongs to; None for that of the client.

        Raises:
            ProtocolError: no function answers it, or the function refused it.
        """
        if question.method not in CAPABILITY_OF:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {question.method}")
        if own is None and question.method == "roots/list" and self._roots is not None:
            return {"roots": [dict(root) for root in self._roots]}
        ask = own or self._ask
        if ask is None:
            raise ProtocolError(INVALID_REQUEST, f"the client does not support {CAPABILITY_OF[question.method]}")
        return dict(await ask(question))

    def _take_response(self, message: Message) -> None:
        request_id = message.get("id")
        flight = self.in_flight.get(request_id) if type(request_id) is int else None
        if request_id is None and "error" in message and len(self.in_flight) == 1:
            (flight,) = self.in_flight.values()  # the server could not read the id
        if flight is not None and not flight.response.done():
            flight.response.set_result(message)

    def report(self, fault: str, example: object) -> None:
        """Log that the server breaks the protocol. Log each fault only once, because a server may repeat it endlessly.

        Args:
            fault: the fault.
            example: the message or the part of it that is ignored.
        """
        if fault not in self._reported:
            self._reported.add(fault)
            logger.warning("%s %s; all such messages are ignored: %.200r", self.label, fault, example)

    def _take_progress(self, params: Message) -> None:
        token = params.get("progressToken")
        flight = self.in_flight.get(token) if type(token) is int else None
        if flight is None or flight.progress is None:
            return
        flight.restart_clock()
        try:
            flight.progress(params)
        except Exception:
            logger.exception("the handler of progress failed")

    def _subscribed(self, params: Message) -> InFlight | None:
        """Return the request that has subscribed to a notification."""
        meta = params.get("_meta")
        request_id = meta.get(_SUBSCRIPTION_ID) if isinstance(meta, dict) else None
        return self.in_flight.get(request_id) if type(request_id) is int else None

    def _take_request(self, request_id: Any, method: str, params: Message, respond: Respond, flight: Any) -> None:
        if not isinstance(request_id, int | str):
            self.report("sent a request with an invalid id", request_id)
            return
        open_questions, most = len(self._answering), self._limits.questions
        if request_id in self._answering or open_questions >= 2 * most:  # half of them are refused
            self.report("has too many open questions", method)
            return
        if flight is None:
            # on a shared stream, a question belongs to the only request with a function for questions
            asking = [other for other in self.in_flight.values() if other.ask is not None]
            flight = asking[0] if len(asking) == 1 else None
        answering = self._respond(request_id, Asked(method, params), respond, flight, is_refused=open_questions >= most)
        task = asyncio.get_running_loop().create_task(answering)
        self._answering[request_id] = task
        task.add_done_callback(lambda _: self._answering.pop(request_id, None))

    async def _respond(
        self, request_id: int | str, question: Asked, respond: Respond, flight: InFlight | None, *, is_refused: bool
    ) -> None:
        response: Message = {"jsonrpc": "2.0", "id": request_id}
        try:
            if question.method == "ping":  # it is neither a response nor progress, so the time of the request goes on
                response["result"] = {}
            elif is_refused:
                raise ProtocolError(INVALID_REQUEST, "the client has too many open questions")
            else:
                with nullcontext() if flight is None else flight.paused():
                    response["result"] = await self.answer(question, None if flight is None else flight.ask)
        except ProtocolError as error:
            response["error"] = {"code": error.code, "message": error.message}
            if error.data is not None:
                response["error"]["data"] = error.data
        except Exception:
            logger.exception("the answer to %s of %s failed", question.method, self.label)
            response["error"] = {"code": INTERNAL_ERROR, "message": "the client cannot answer"}
        await respond(response)
