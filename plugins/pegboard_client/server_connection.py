"""The connection with one server: its channel, its revision, and the exchange of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from pegboard.errors import ProtocolError, TransportError
from pegboard_client.addresses import ClientLimits, Endpoint, Program, Stream
from pegboard_client.asked import ANSWERED_BY_ASK, QuestionHandler
from pegboard_client.client_errors import HttpStatusError, ServerTimeoutError, SessionExpiredError
from pegboard_client.handshake import (
    MISMATCHED_HEADERS,
    PROBE_SECONDS,
    SESSIONS,
    STATELESS,
    ServerDescription,
    SessionServerError,
    check_discovered,
    description_in,
    refusal_of_discover,
    selected_revision,
    stateless_meta,
)
from pegboard_client.in_flight import InFlight, Message, Notified, TakeProgress, TimeLimits, result_in
from pegboard_client.incoming import Incoming
from pegboard_client.listening import LIST_CHANGES

if TYPE_CHECKING:
    from pegboard_client.addresses import MessageStream
    from pegboard_client.http_endpoint import HttpEndpoint
    from pegboard_client.http_exchange import HttpExchange
    from pegboard_client.http_session import SessionHttp


class RequestOptions(TypedDict, total=False):
    """Options of one request.

    Attributes:
        timeout: how many seconds to wait for a response or progress; absent or None for the timeout of the client.
        progress: receives the parameters of each progress notification.
        meta: more members of the request's `_meta`.
        ask: answers the questions that belong to the request, in place of the client's own function.
        capabilities: the client capabilities that this request declares (2026-07-28 only).
    """

    timeout: float | None
    progress: TakeProgress | None
    meta: Mapping[str, Any] | None
    ask: QuestionHandler | None
    capabilities: Mapping[str, Any] | None


class Channel(Protocol):
    """Carries the requests of one connection."""

    closed: asyncio.Future[str]

    async def exchange(self, flight: InFlight) -> Message: ...
    def notify(self, method: str, params: Message) -> None: ...
    async def tell(self, method: str, params: Message) -> None: ...
    async def close(self) -> None: ...


_OF_OTHER_PAGES = (400, 404, 405, 406, 410, 415)
"""The HTTP statuses of URLs that do not serve MCP."""


class ServerConnection:
    """The connection with one server.

    Args:
        address: the address of the server.
        incoming: handles the messages of the server.
        info: the name and version of the client.
        capabilities: the capabilities that the client declares.
        timeout: the seconds that a request waits for a response or progress; None for no limit.
        limits: the limits.

    Attributes:
        revision: the revision of MCP; "" before `open`.
        server: the description of the server; None before `open`.
        uris: the resources to subscribe to in each new session.
    """

    def __init__(
        self,
        address: Endpoint | Program | Stream,
        incoming: Incoming,
        info: Mapping[str, str],
        capabilities: Mapping[str, Any],
        timeout: float | None,
        limits: ClientLimits,
    ) -> None:
        self.revision = ""
        self.server: ServerDescription | None = None
        self.uris: set[str] = set()
        self.incoming = incoming
        self._address = address
        self._info = info
        self._capabilities = capabilities
        self._timeout = inf if timeout is None else timeout
        self._limits = limits
        self._ids = count(1)
        self._time_limits = TimeLimits(incoming.in_flight)
        self._channel: Channel | None = None
        self._endpoint: HttpEndpoint | None = None
        self._exchange: HttpExchange | None = None
        self._session: SessionHttp | None = None
        self._renewing = asyncio.Lock()

    @property
    def channel(self) -> Channel:
        """The channel.

        Raises:
            TransportError: the client is not connected.
        """
        if self._channel is None:
            raise TransportError(f"the client of {self._address.label} is not connected; use it in `async with`")
        return self._channel

    # --- requests ---

    async def exchange(self, method: str, params: Mapping[str, Any], options: RequestOptions) -> Message:
        """Send one request and return its result. Renew an expired session first.

        Raises:
            ProtocolError: the server responded with an error.
            TransportError: the connection was lost.
            ServerTimeoutError: the server did not respond in time.
        """
        if self._renewing.locked():  # a server refuses requests before the end of the handshake
            await self.in_time(self._renewed(), "initialize", options.get("timeout"))
        try:
            return await self.send(self.new_flight(method, params, options))
        except SessionExpiredError as error:
            # a server that does not know the session has not run the request
            await self._renew(error.session_id, options.get("timeout"))
        except ProtocolError as error:
            # the server requires headers of a tool that was never listed, or has changed
            if error.code != MISMATCHED_HEADERS or method != "tools/call" or self._endpoint is None:
                raise
            await self._relearn_tools()
        return await self.send(self.new_flight(method, params, options))

    def new_flight(self, method: str, params: Mapping[str, Any], options: RequestOptions) -> InFlight:
        """Return a request with a new id."""
        request_id = next(self._ids)
        seconds = options.get("timeout")
        progress, ask = options.get("progress"), options.get("ask")
        meta = self._meta(options) if self.revision == STATELESS or method == "server/discover" else {}
        if own_meta := params.get("_meta"):
            meta.update(own_meta)
        if more := options.get("meta"):
            meta.update(more)
        if progress is not None:
            meta["progressToken"] = request_id
        return InFlight(
            request_id,
            method,
            {**params, "_meta": meta} if meta else dict(params),
            self._timeout if seconds is None else seconds,
            self._limits.request_seconds,
            self._time_limits,
            progress,
            ask,
        )

    def open_ended_flight(self, method: str, params: Message, options: RequestOptions | None = None) -> InFlight:
        """Return a request without a time limit."""
        params = {**params, "_meta": self._meta(options or {})}
        return InFlight(next(self._ids), method, params, inf, inf, self._time_limits)

    async def send(self, flight: InFlight) -> Message:
        """Send a request and return its result.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `exchange`.
            SessionExpiredError: the session has expired.
        """
        in_flight = self.incoming.in_flight
        in_flight[flight.id] = flight
        self._time_limits.watch(flight.due)
        try:
            async with flight.clock:
                response = await self.channel.exchange(flight)
        except TimeoutError:
            raise ServerTimeoutError(f"{self._address.label} did not respond to {flight.method} in time") from None
        finally:
            del in_flight[flight.id]
        return result_in(response, flight.method, self._address.label)

    async def accepts(self) -> None:
        """Wait until the server accepts a later request. Only servers over HTTP require a login."""
        if self._endpoint is not None:
            await self._endpoint.accepts()

    async def in_time(self, waiting: Awaitable[object], what: str, seconds: float | None = None) -> None:
        """Wait with the time limit of a response; None for that of the client.

        Raises:
            ServerTimeoutError: the time limit is exceeded.
        """
        try:
            seconds = self._timeout if seconds is None else seconds
            async with asyncio.timeout(seconds if isfinite(seconds) else None):
                await waiting
        except TimeoutError:
            raise ServerTimeoutError(f"{self._address.label} did not respond to {what} in time") from None

    def _meta(self, options: RequestOptions) -> Message:
        capabilities = options.get("capabilities")
        if capabilities is None:
            capabilities = self._capabilities
            if options.get("ask") is not None:
                capabilities = {**ANSWERED_BY_ASK, **capabilities}
        return stateless_meta(self._info, capabilities)

    # --- beginning and end ---

    async def open(self, revision: str | None) -> None:
        """Connect and select a revision.

        Args:
            revision: the revision to use; None for the newest that the server speaks.

        Raises:
            TransportError: the server cannot be reached, or speaks no common revision.
            ProtocolError: the server refused the connection.
        """
        await self._connect()
        if revision is not None and revision != STATELESS:
            await self._open_session(revision)
            return
        try:
            if self._endpoint is None and revision is None:
                await probe(self._discover, partial(self._open_session, None))
            else:
                await self._discover()
        except SessionServerError as error:
            if revision is not None:
                raise TransportError(f"{self._address.label} does not speak {revision}") from None
            await self._open_session(error.revision)
        except TransportError:
            if revision is not None or not (isinstance(self._address, Program) and self.channel.closed.done()):
                raise
            # some servers exit when the first request is not `initialize`
            await self.channel.close()
            await self._connect()
            await self._open_session(None)

    async def close(self) -> None:
        """End the connection."""
        self.incoming.close()
        self._time_limits.close()
        try:
            if self._channel is not None:
                await self._channel.close()
        finally:
            if self._exchange is not None:
                await self._exchange.close()

    async def _connect(self) -> None:
        address = self._address
        if isinstance(address, Endpoint):
            from pegboard_client.http_endpoint import HttpEndpoint
            from pegboard_client.stateless_http import StatelessHttp

            self._exchange = address.exchange
            if self._exchange is None:
                from pegboard_client.aiohttp_exchange import AiohttpExchange

                self._exchange = AiohttpExchange()
            self._endpoint = HttpEndpoint(address, self._exchange, self._limits)
            self._channel = StatelessHttp(self._endpoint, self.incoming, STATELESS)
            return
        from pegboard_client.stream_channel import StreamChannel

        if isinstance(address, Program):
            from pegboard_client.child_process import start_process

            stream: MessageStream = await start_process(address, self._limits.message_bytes)
        else:
            stream = address.stream
        self._channel = StreamChannel(address.label, stream, self.incoming, self._limits)

    async def _discover(self) -> None:
        label = self._address.label
        try:
            result = await self.send(self.new_flight("server/discover", {}, {}))
        except ProtocolError as error:
            raise refusal_of_discover(label, error) from None
        except HttpStatusError as error:
            raise SessionServerError(f"{label} does not implement server/discover: {error}") from None
        check_discovered(label, result)
        self.revision = STATELESS
        self.server = description_in(result)

    async def _open_session(self, revision: str | None) -> None:
        if self._endpoint is not None:
            from pegboard_client.http_session import SessionHttp

            self._session = SessionHttp(self._endpoint, self.incoming, self._renew, self.report_changes)
            self._channel = self._session
        await self._initialize(revision or SESSIONS[0])
        if self._session is not None and (self._capabilities or self.incoming.hears):
            _ = self._session.listen()  # questions and notifications may arrive on it

    async def _initialize(self, revision: str, seconds: float | None = None) -> None:
        label = self._address.label
        params = {"protocolVersion": revision, "capabilities": self._capabilities, "clientInfo": self._info}
        try:
            result = await self.send(self.new_flight("initialize", params, {"timeout": seconds}))
        except HttpStatusError as error:
            hint = _endpoint_hint(label) if error.status in _OF_OTHER_PAGES else ""
            raise TransportError(f"{error}{hint}") from None
        self.revision = selected_revision(label, result)
        self.server = description_in(result)
        if self._session is not None:
            self._session.revision = self.revision
        await self.in_time(self.channel.tell("notifications/initialized", {}), "notifications/initialized")

    async def _renew(self, expired: str, seconds: float | None = None) -> None:
        """Open a session in place of an expired session, unless another task has done so.

        Args:
            expired: the id of the expired session.
            seconds: the time limit of the request that needs the session; None for that of the client.
        """
        session = self._session
        await self.in_time(self._renewing.acquire(), "initialize", seconds)
        try:
            if session is None or session.id != expired:
                return
            try:
                await self._initialize(self.revision, seconds)
            except BaseException:
                session.id = expired  # the next request tries again
                raise
        finally:
            self._renewing.release()
        for uri in sorted(self.uris):
            with suppress(ProtocolError):
                await self.send(self.new_flight("resources/subscribe", {"uri": uri}, {}))
        self.report_changes()

    async def _renewed(self) -> None:
        """Wait for the end of a renewal of the session."""
        async with self._renewing:
            pass

    async def _relearn_tools(self) -> None:
        cursor: Message = {}
        for _ in range(self._limits.list_pages):
            page = await self.send(self.new_flight("tools/list", cursor, {}))
            if not page.get("nextCursor"):
                return
            cursor = {"cursor": page["nextCursor"]}

    # --- changes ---

    async def listen_to_task(self, options: RequestOptions, task_id: str, notified: Notified) -> None:
        """Subscribe to a task, until the server ends the subscription (2026-07-28).

        Args:
            options: the options of the request.
            task_id: the id of the task.
            notified: receives the acknowledgement and the states of the task.

        Raises:
            ProtocolError, TransportError: the server refused the subscription, or the connection was lost.
        """
        wanted = {"notifications": {"taskIds": [task_id]}}
        flight = self.open_ended_flight("subscriptions/listen", wanted, options)
        flight.may_log_in = False
        flight.notified = notified
        await self.send(flight)

    async def listen(self) -> bool:
        """Wait until the standalone stream of a session is open. Return False if the server has refused it."""
        if self._session is None:
            return True
        await self.in_time(asyncio.shield(self._session.listen()), "the request for its standalone stream")
        return self._session.is_listening

    def lose(self, reason: str) -> None:
        """Report that the server cannot be reached. Later requests may reach it again."""
        if not self.channel.closed.done():
            self.channel.closed.set_result(reason)

    def report_changes(self) -> None:
        """Report all lists and all subscribed resources as changed, because notifications may be lost."""
        capabilities = {} if self.server is None else self.server.capabilities
        for method in LIST_CHANGES.values():
            if method.split("/")[1] in capabilities:
                self.incoming.notify(method, {})
        for uri in sorted(self.uris):
            self.incoming.notify("notifications/resources/updated", {"uri": uri})


def _endpoint_hint(url: str) -> str:
    """Return the hint for a URL that serves no MCP. Many servers serve it at /mcp."""
    has_path = url.partition("://")[2].partition("/")[2]
    example = "" if has_path else f", such as {url.rstrip('/')}/mcp"
    return f"; check that the URL is that of an MCP endpoint{example}"


# --- Detection of the era of a server on a message stream.


async def probe(
    discover: Callable[[], Coroutine[Any, Any, None]], open_session: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Discover a server. If it does not respond, open a session too. Use the attempt that succeeds first.

    A server may be slow to start, or ignore requests that it does not know. Both look the same.

    Args:
        discover: discovers the server; it fails if the server has sessions.
        open_session: opens a session.

    Raises:
        SessionServerError: the server speaks only revisions with sessions, and no session is open yet.
        TransportError, ProtocolError, ServerTimeoutError: the server cannot be used.
    """
    tasks = [asyncio.create_task(discover())]
    try:
        await asyncio.wait(tasks, timeout=PROBE_SECONDS)
        if not tasks[0].done():
            tasks.append(asyncio.create_task(open_session()))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            refused = any(task.exception() is not None for task in done)  # the server speaks only the other era
            # a server of both eras has a session after its second response
            await asyncio.wait(tasks if refused else tasks[1:], timeout=None if refused else PROBE_SECONDS)
            if tasks[1].done() and (tasks[1].exception() is None or tasks[0].exception() is not None):
                await tasks[1]
                return
        await tasks[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
