"""A session over Streamable HTTP (2024-11-05 to 2025-11-25)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from typing import Any

from pegboard.errors import AuthorizationRequiredError, MCPError, TransportError
from pegboard.wire.codec import encode
from pegboard_client.client_errors import ConnectionLostError, HttpStatusError, SessionExpiredError, UnreachableError
from pegboard_client.http_endpoint import HttpEndpoint, is_stream
from pegboard_client.http_exchange import HttpReply
from pegboard_client.http_stream import StreamReading
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming
from pegboard_client.reconnecting import MAX_RECONNECT_SECONDS, MAX_UNREACHED, reconnect_delay

MAX_RESUMPTIONS = 5
"""The maximum number of consecutive resumptions of a stream that receive no event."""
MAX_DELIVERY_SECONDS = 30.0
"""How long a server may take to accept a notification or a response."""
MAX_GOODBYE_SECONDS = 3.0
"""How long the end of a session may take."""

logger = logging.getLogger("pegboard.client")


class SessionHttp:
    """Requests in a session.

    Args:
        endpoint: the endpoint.
        incoming: handles the messages of the server.
        renew: replaces the expired session of an id by a new session.
        missed: called when notifications may have been lost.

    Attributes:
        closed: completed with the reason when the client has closed the session, or its standalone stream has not
            reached the server several times.
        id: the id of the session; "" without one.
        revision: the revision that the server selected; "" before that.
    """

    def __init__(
        self,
        endpoint: HttpEndpoint,
        incoming: Incoming,
        renew: Callable[[str], Awaitable[None]],
        missed: Callable[[], None],
    ) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.id = ""
        self.revision = ""
        self._endpoint = endpoint
        self._incoming = incoming
        self._renew = renew
        self._missed = missed
        self._tasks: set[asyncio.Task[Any]] = set()
        self._standalone: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] | None = None
        self._has_listened = False

    async def exchange(self, flight: InFlight) -> Message:
        """Send a request and return its response. If its stream breaks off, resume it.

        If the wait is cancelled, cancel the request at the server.

        Raises:
            SessionExpiredError: the server does not know the session.
            TransportError: the server cannot be reached, or the connection was lost.
        """
        reading = self._reading()
        try:
            try:
                response = await self._post(flight, reading)
            except ConnectionLostError:
                if not reading.last_id:
                    raise
                response = None
            return response or await self._resumed(flight, reading)
        except asyncio.CancelledError:
            if flight.method != "initialize":  # the specification forbids it
                self.notify("notifications/cancelled", {"requestId": flight.id})
            raise

    def notify(self, method: str, params: Message) -> None:
        """Send a notification in the background."""
        _ = self._begin(self._tell_or_log(method, params))

    async def tell(self, method: str, params: Message) -> None:
        """Send a notification before other messages.

        Raises:
            TransportError: the server cannot be reached, or rejected it.
        """
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def listen(self) -> asyncio.Future[None]:
        """Open the stream for messages that belong to no request, if the server offers it. Keep it open.

        Returns:
            A future that is completed when the stream is open, or the server has refused it.
        """
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._standalone = self._begin(self._keep_standalone(self._opened))
        return self._opened

    @property
    def is_listening(self) -> bool:
        """True if the standalone stream is open, or will be opened again."""
        return self._standalone is not None and not self._standalone.done()

    async def close(self) -> None:
        """End the session."""
        if self._standalone is not None:
            self._standalone.cancel()
        goodbye = self._begin(self._say_goodbye(tuple(self._tasks)))
        try:
            # before Python 3.12, `asyncio.wait_for` loses a cancellation that arrives together with the result
            await asyncio.wait((goodbye,), timeout=MAX_GOODBYE_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()
        if not self.closed.done():
            self.closed.set_result("the client has closed the connection")

    async def _say_goodbye(self, deliveries: Collection[asyncio.Task[Any]]) -> None:
        """Wait until all messages are delivered, and end the session at the server."""
        if deliveries:
            await asyncio.wait(deliveries)
        if self.id:
            with suppress(MCPError):
                async with self._endpoint.open("DELETE", self._headers()):
                    pass

    def _reading(self) -> StreamReading:
        return StreamReading(self._incoming, self._endpoint.message_bytes, self._respond)

    def _headers(self) -> dict[str, str]:
        headers = {"MCP-Protocol-Version": self.revision} if self.revision else {}
        if self.id:
            headers["Mcp-Session-Id"] = self.id
        return headers

    async def _post(self, flight: InFlight, reading: StreamReading) -> Message | None:
        """Send a request. Return None if the stream ends before the response."""
        # other requests use the previous session until the server has opened the next session
        opens = flight.method == "initialize"
        used, headers = ("", {}) if opens else (self.id, self._headers())
        async with self._endpoint.open("POST", headers, flight.encoded(), flight) as reply:
            if reply.status == 404 and used:
                raise self._expired(used)
            if opens:
                self.id = reply.headers.get("mcp-session-id", "")
            if is_stream(reply):
                response = await reading.response_in(reply, flight)
            else:
                response = await self._whole_message(reply, used, flight)
        if response is None and not reading.last_id:
            raise ConnectionLostError(f"{self._endpoint.label}: the stream ended before the response")
        return response

    async def _whole_message(self, reply: HttpReply, used: str, flight: InFlight) -> Message:
        """Return the message of a response. Some servers respond with status 400 if they do not know the session."""
        try:
            message = await self._endpoint.whole_message(reply, flight)
        except HttpStatusError as error:
            if error.status == 400 and used:
                raise self._expired(used, str(error)) from None
            raise
        if reply.status == 400 and used and "session" in str(message["error"].get("message")).lower():
            raise self._expired(used)
        return message

    async def _resumed(self, flight: InFlight, reading: StreamReading) -> Message:
        """Return the response to a request whose stream broke off."""
        failures = 0
        while failures < MAX_RESUMPTIONS:
            await asyncio.sleep(_delay(reading, failures))
            last_id, failures = reading.last_id, failures + 1
            with suppress(ConnectionLostError):
                headers = {**self._headers(), "Last-Event-ID": last_id}
                async with self._endpoint.open("GET", headers, flight=flight) as reply:
                    if not is_stream(reply):
                        break
                    response = await reading.response_in(reply, flight)
                if response is not None:
                    return response
            if reading.last_id != last_id:
                failures = 0
        raise ConnectionLostError(f"{self._endpoint.label}: the stream ended before the response")

    async def _keep_standalone(self, opened: asyncio.Future[None]) -> None:
        """Keep the standalone stream open until the server refuses it.

        If the server requires a login, wait until it accepts a request.
        """
        reading, failures, unreached, is_told = self._reading(), 0, 0, False
        now = asyncio.get_running_loop().time
        while True:
            used, before, began, is_refused = self.id, reading.events, now(), False
            try:
                if not await self._read_standalone(reading, opened):
                    return
                was_useful = reading.events > before or now() - began > MAX_RECONNECT_SECONDS
                failures, is_told = 0 if was_useful else failures + 1, False
            except SessionExpiredError:
                reading, failures = self._reading(), failures + 1
                with suppress(MCPError):
                    await self._renew(used)
            except AuthorizationRequiredError as error:
                is_refused = True
                if not is_told:
                    logger.warning("%s; its notifications are missing until it accepts a request", error)
                    is_told = True
            except TransportError as error:
                failures += 1
                unreached = unreached + 1 if isinstance(error, UnreachableError) else 0
                if unreached == MAX_UNREACHED and not self.closed.done():
                    self.closed.set_result(error.message)
            finally:
                if not opened.done():
                    opened.set_result(None)
            if is_refused:
                await self._endpoint.accepts()
            await asyncio.sleep(_delay(reading, failures))

    async def _read_standalone(self, reading: StreamReading, opened: asyncio.Future[None]) -> bool:
        """Open the standalone stream and read it to its end. Return False if the server does not offer it.

        Raises:
            TransportError: the connection was lost, or the server refuses the stream for the moment.
        """
        resumed = {"Last-Event-ID": reading.last_id} if reading.last_id else {}
        used = self.id
        async with self._endpoint.open("GET", {**self._headers(), **resumed}, may_log_in=not opened.done()) as reply:
            if is_stream(reply):
                if not opened.done():
                    opened.set_result(None)
                elif not resumed:
                    self._missed()
                self._has_listened = True
                await reading.response_in(reply, None)
                return True
            # some servers respond with status 400 if they do not know the session, others if they do not know the event
            is_unknown = reply.status == 404 or (reply.status == 400 and self._has_listened and not resumed)
            if is_unknown and used and opened.done():
                raise self._expired(used)
            if reply.status == 400:
                reading.last_id = ""
            # 409: the previous stream has not ended there; 405: the server offers no stream
            is_for_now = reply.status >= 500 or reply.status in (409, 429)
            if is_for_now or (self._has_listened and reply.status != 405):
                raise ConnectionLostError(f"{self._endpoint.label}: the server refuses the stream for now")
            return False

    def _expired(self, used: str, reason: str = "the session has expired") -> SessionExpiredError:
        error = SessionExpiredError(f"{self._endpoint.label}: {reason}")
        error.session_id = used
        return error

    async def _send(self, message: Message) -> None:
        try:
            async with (
                asyncio.timeout(MAX_DELIVERY_SECONDS),
                self._endpoint.open("POST", self._headers(), encode(message)) as reply,
            ):
                if not 200 <= reply.status < 300:
                    await self._endpoint.whole_message(reply)  # raises the error for the status
        except TimeoutError:
            raise ConnectionLostError(f"{self._endpoint.label}: the server did not accept a message in time") from None

    async def _respond(self, response: Message) -> None:
        try:
            await self._send(response)
        except MCPError as error:
            logger.warning("the answer to a question was not delivered: %s", error)

    async def _tell_or_log(self, method: str, params: Message) -> None:
        try:
            await self.tell(method, params)
        except MCPError as error:
            logger.info("%s was not delivered: %s", method, error)

    def _begin(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _delay(reading: StreamReading, failures: int) -> float:
    if reading.retry_ms is not None and not failures:
        return reading.retry_ms / 1000
    return reconnect_delay(failures)
