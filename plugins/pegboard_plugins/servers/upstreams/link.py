"""One connection to a server, opened again after a loss."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from math import inf, isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from pegboard import AuthorizationRequiredError, MCPError
from pegboard.plugin import ProtocolError, TransportError
from pegboard_client import ServerTimeoutError, UnreachableError, reconnect_delay
from pegboard_plugins.servers.upstreams.hops import LoopError
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS, ListReader, RawKind, UpstreamLists
from pegboard_plugins.servers.upstreams.uses import Uses
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from pegboard_client import Client

NotificationListener: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Receives the method and the parameters of a notification."""
OpenClient: TypeAlias = "Callable[[NotificationListener], AbstractAsyncContextManager[Client]]"
"""Returns a connection that its context manager opens and closes."""

STABLE_SECONDS = 5.0
"""A connection that ends earlier counts as a failed attempt."""
PATIENT_SECONDS = 1.0
"""Calls wait for the next attempt if it is due within this time."""
MAX_LISTEN_SECONDS = 5.0
"""The time limit for the request for changes."""
MAX_FIRST_LISTS_SECONDS = 60.0
"""The time limit for the lists of a new connection, during which calls wait."""
MAX_CHECK_SECONDS = 5.0
"""The time limit for a sign of life of the server after a request timed out."""
MAX_LIST_FAILURES = 3
"""The connection is given up after so many failed readings of changed lists in a row."""
MIN_LIST_SECONDS = 0.2
"""The minimum time between two readings of changed lists."""

REFUSALS = {
    "ping": (INVALID_REQUEST, -32022),  # some servers do not know it
    "server/discover": (INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, -32000, -32022),
}
"""The codes with which servers of another revision refuse these methods."""

_CHANGES: dict[str, frozenset[RawKind]] = {
    "notifications/tools/list_changed": frozenset(("tools",)),
    "notifications/resources/list_changed": frozenset(("resources", "templates")),
    "notifications/prompts/list_changed": frozenset(("prompts",)),
}


class NotConnectedError(Exception):
    """The server is not connected.

    Attributes:
        reason: the reason.
        seconds: the seconds until the next attempt; None if there is none.
        cause: the exception of the last attempt; None if there is none.
    """

    def __init__(self, reason: str, seconds: float | None, cause: Exception | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds
        self.cause = cause


class Link:
    """One connection to a server.

    Each attempt is a task. It opens the connection, reads the lists, and closes the connection. Calls share it.

    Args:
        label: the name of the server, and of its user, for the log.
        open: returns a new connection.
        reader: reads the lists.
        publish: receives the lists after each reading, and returns when they are served.
        logger: the log.
        on_notification: receives notifications that are not changes of lists.
        keep: True to connect again after a loss; False to connect again with the next use.
        hurries: True if each use after a loss tries to connect at once, as an attempt costs little.
        advice: returns the advice for the operator if the server requires a login; None for no advice.

    Attributes:
        lists: the lists as last read.
        reader: see above.
        connected: the open connection, or None.
        uses: the calls that run on the connection.
    """

    def __init__(
        self,
        label: str,
        open: OpenClient,
        reader: ListReader,
        publish: Callable[[UpstreamLists], Awaitable[None]],
        logger: logging.Logger,
        on_notification: Callable[[Client, str, dict[str, Any]], None],
        *,
        keep: bool,
        hurries: bool = False,
        advice: Callable[[], str] | None = None,
    ) -> None:
        self.lists = UpstreamLists()
        self.connected: Client | None = None
        self.uses = Uses()
        self._label = label
        self._open = open
        self.reader = reader
        self._publish = publish
        self._logger = logger
        self._on_notification = on_notification
        self._keep = keep
        self._hurries = hurries
        self._advice = advice
        self._failures = 0
        self._task: asyncio.Task[None] | None = None
        self._next_attempt = -inf
        """The time of the next attempt: -inf for the next use, inf for never."""
        self._has_outcome = asyncio.Event()
        """Set when the current attempt has connected or failed."""
        self._changed: set[RawKind] = set()
        self._wake = asyncio.Event()
        self._check: asyncio.Task[None] | None = None
        self._blocked = ""
        self._was_open = False
        self._has_connected = False
        self._settled = asyncio.Event()
        self._started = 0.0
        self._reported = ""
        self._cause: Exception | None = None
        self._is_retired = False

    @property
    def is_running(self) -> bool:
        """True while a connection is open, is being opened, or waits for the next attempt."""
        return self._task is not None and not self._task.done()

    @property
    def failure(self) -> NotConnectedError | None:
        """The reason why no connection is open; None if one is open."""
        if self.connected is not None:
            return None
        due = self._next_attempt
        seconds = max(0.0, due - monotonic()) if isfinite(due) else None
        return NotConnectedError(self._reported or "it has not connected yet", seconds, self._cause)

    def start(self) -> None:
        """Connect in the background, unless a connection is open or the next attempt is not due."""
        if self.is_running or monotonic() < self._next_attempt:
            return
        self._settled.clear()
        self._started = monotonic()
        self._begin()

    def hasten(self) -> None:
        """Let the next use connect at once, although an attempt has just failed. A closed connection stays closed."""
        if self._next_attempt != inf:
            self._next_attempt = -inf

    async def client(self) -> Client:
        """Return the connection. Wait for an attempt that is under way, or that can be made at once.

        Raises:
            NotConnectedError: the attempt failed, or the next attempt is not due.
        """
        if self.connected is None:
            self.start()
            if self._has_outcome.is_set() and self._can_hurry:
                self._hurry()
        while (failure := self.failure) is not None:
            if self._has_outcome.is_set():
                raise failure
            await self._has_outcome.wait()
        assert self.connected is not None
        return self.connected

    @property
    def _can_hurry(self) -> bool:
        """True if the server was connected, and could not be reached since."""
        is_unreached = self._has_connected and isinstance(self._cause, TransportError)
        return self._hurries and is_unreached and self._next_attempt != inf

    def _hurry(self) -> None:
        """Make the next attempt at once. It does not lengthen the delay of the one that follows."""
        self._failures -= 1
        self._next_attempt = monotonic()
        if self._keep and self._task is not None:
            self._task.cancel()  # it waits for the next attempt
            self._begin()
        else:
            self.start()

    def is_settled(self, seconds: float) -> bool:
        """Return False if lists should wait: a first attempt is possible, or began less than `seconds` ago."""
        if not self.is_running:
            return monotonic() < self._next_attempt
        return self._settled.is_set() or monotonic() >= self._started + seconds

    async def settle(self) -> None:
        """Connect if no connection is open. Wait until the lists are served, or the attempt has failed."""
        self.start()
        await self._settled.wait()

    def check(self, client: Client) -> None:
        """Check in the background whether the server still responds, in the same revision. If not, drop the connection.

        Args:
            client: the connection on which a request timed out, was refused as a whole, or did not reach the server.
        """
        if client is self.connected and (self._check is None or self._check.done()):
            self._check = asyncio.get_running_loop().create_task(self._check_response(client))

    async def retire(self) -> None:
        """Close the connection when its calls have ended. Another connection lists the items from now on."""
        self._is_retired = True
        await self.uses.end()
        await self.close()

    async def close(self) -> None:
        """Close the connection and make no further attempts."""
        self._keep = False
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))
        self._next_attempt = inf
        self._fail("the host has closed the connection")

    # --- attempts

    def _begin(self) -> None:
        self._has_outcome.clear()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _begin_later(self, delay: float) -> None:
        await asyncio.sleep(delay)
        self._begin()

    def _fail(self, reason: str) -> None:
        self._reported = reason
        self._settled.set()
        self._has_outcome.set()

    async def _run(self) -> None:
        """Open the connection, and follow changes until it is lost. Then wait for the next attempt, if any."""
        began = monotonic()
        self._was_open = False
        self._cause = None
        try:
            reason = await self._connect_and_follow()
            self._cause = TransportError(reason)
        except LoopError as error:
            self._logger.error("%s is not mounted: %s", self._label, error)
            self._next_attempt = inf
            self._fail(str(error))
            return
        except (MCPError, OSError) as error:
            reason = _first_line(error)
            self._cause = error
            if self._advice is not None and isinstance(error, AuthorizationRequiredError):
                reason += f"; {self._advice()}"
        except Exception as error:
            self._logger.exception("%s: the connection failed", self._label)
            reason = type(error).__name__
        if self._was_open and monotonic() - began >= STABLE_SECONDS:
            self._failures = 0
        delay = reconnect_delay(self._failures)
        self._failures += 1
        self._next_attempt = monotonic() + delay
        what = "the connection is lost" if self._was_open else "cannot connect"
        after = f"; next attempt in {delay:.1f} s" if self._keep else ""
        is_news = self._was_open or reason != self._reported
        self._reported = reason
        level = logging.WARNING if is_news else logging.DEBUG
        self._logger.log(level, "%s: %s: %s%s", self._label, what, reason, after)
        if not (self._keep and self._was_open and delay < PATIENT_SECONDS):
            self._fail(reason)
        if self._keep:
            self._task = asyncio.get_running_loop().create_task(self._begin_later(delay))

    async def _connect_and_follow(self) -> str:
        """Open the connection and follow changes until it is lost. Return the reason of the loss."""
        self._changed.clear()
        self._blocked = ""
        async with self._open(self._notified) as client:
            announces = await self._listen(client) and _announces_changes(client)
            self.lists = await self._first_lists(client)
            self._opened(client)
            try:
                await self._publish(self.lists)
                self._settled.set()
                return await self._follow(client, announces)
            finally:
                self.connected = None
                self._has_outcome.clear()

    async def _first_lists(self, client: Client) -> UpstreamLists:
        try:
            async with asyncio.timeout(MAX_FIRST_LISTS_SECONDS):
                return await self.reader.read(client, ALL_KINDS, self.lists)
        except TimeoutError:
            raise TransportError(f"it did not send its lists within {MAX_FIRST_LISTS_SECONDS:.0f} seconds") from None

    async def _listen(self, client: Client) -> bool:
        """Ask the server for changes of its lists. Return False if it sends none."""
        try:
            async with asyncio.timeout(MAX_LISTEN_SECONDS):
                return await client.listen()
        except (ProtocolError, TransportError, TimeoutError) as error:
            self._logger.debug("%s announces no changes: %s", self._label, _first_line(error))
            return False

    def _opened(self, client: Client) -> None:
        self.connected = client
        self._was_open = self._has_connected = True
        self._has_outcome.set()
        tools, resources, templates, prompts = map(len, self.lists)
        self._logger.info(
            "%s: connected (%s): %s tools, %s resources, %s prompts",
            self._label,
            client.revision,
            tools,
            resources + templates,
            prompts,
        )

    async def _follow(self, client: Client, announces: bool) -> str:
        """Read changed lists until the connection is lost. Return the reason of the loss.

        Args:
            client: the connection.
            announces: False to read all lists again whenever they are no longer fresh.

        Raises:
            MCPError: the lists could not be read several times.
        """
        closed = asyncio.ensure_future(client.wait_closed())
        closed.add_done_callback(lambda _: self._wake.set())
        failures = 0
        try:
            while not closed.done():
                fresh = None if announces else self.reader.fresh_seconds
                await self._wait_for_change(reconnect_delay(failures) if failures else fresh)
                if self._blocked:
                    return self._blocked
                if self._changed:
                    failures = await self._read_changed(client, failures)
                    await asyncio.wait((closed,), timeout=MIN_LIST_SECONDS)
            return await closed
        finally:
            closed.cancel()
            self._wake.clear()

    async def _read_changed(self, client: Client, failures: int) -> int:
        """Read the changed lists. Return the number of consecutive failures: running calls survive some.

        Raises:
            MCPError: the lists could not be read several times.
        """
        kinds, self._changed = self._changed, set()
        try:
            before, self.lists = self.lists, await self.reader.read(client, kinds, self.lists)
        except (TransportError, ServerTimeoutError) as error:
            if failures + 1 >= MAX_LIST_FAILURES:
                raise
            self._logger.debug("%s: its lists cannot be read now: %s", self._label, _first_line(error))
            self._changed |= kinds
            if isinstance(error, ServerTimeoutError):
                self.check(client)
            return failures + 1
        if self.lists != before and not self._is_retired:
            await self._publish(self.lists)
        return 0

    async def _wait_for_change(self, seconds: float | None) -> None:
        """Wait for a change. After a time without a change, all lists count as changed."""
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            self._changed |= ALL_KINDS
        self._wake.clear()

    async def _check_response(self, client: Client) -> None:
        method = "server/discover" if client.stateless else "ping"
        problem, failures = await self._problem(client, method), 1
        while isinstance(problem, TransportError) and self.uses.count and failures < MAX_LIST_FAILURES:
            await asyncio.sleep(reconnect_delay(failures))  # running calls survive some failures
            problem, failures = await self._problem(client, method), failures + 1
        if problem and client is self.connected:
            self._blocked = problem if isinstance(problem, str) else _first_line(problem)
            self._wake.set()

    async def _problem(self, client: Client, method: str) -> str | TransportError:
        """Send a request. Return the problem of its response, the error if it did not reach the server, or ""."""
        try:
            async with asyncio.timeout(MAX_CHECK_SECONDS):
                await client.request(method)
        except TimeoutError:
            return f"a request timed out, and {method} had no response in {MAX_CHECK_SECONDS:.0f} seconds"
        except MCPError as error:
            if isinstance(error, UnreachableError):
                return error
            if _is_refusal(method, error):
                return f"{method} was refused, as by a server of another revision: {_first_line(error)}"
            self._logger.debug("%s: %s failed: %s", self._label, method, _first_line(error))  # it is a response
        return ""

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        if method in _CHANGES:
            self._changed |= _CHANGES[method]
            self._wake.set()
        elif self.connected is not None:
            self._on_notification(self.connected, method, params)


def _announces_changes(client: Client) -> bool:
    """Return True if the server declares that it announces changes of each list that it has."""
    declared = client.server.capabilities
    having = [declared[name] for name in ("tools", "resources", "prompts") if name in declared]
    return all(isinstance(capability, dict) and capability.get("listChanged") is True for capability in having)


def is_refused_status(error: MCPError) -> bool:
    """Return True for an HTTP status with which a URL refuses requests that it does not know."""
    return isinstance(error, TransportError) and getattr(error, "status", 0) in (400, 404, 405, 406, 410, 415)


def _is_refusal(method: str, error: MCPError) -> bool:
    """Return True if a server refuses a method as servers of another revision do."""
    if isinstance(error, ProtocolError):
        return error.code in REFUSALS[method]
    return is_refused_status(error)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].removesuffix(".")
