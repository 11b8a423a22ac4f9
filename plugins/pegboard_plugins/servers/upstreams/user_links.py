"""The connections of one server: of the host for all callers, or of users, which no other user shares."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from pegboard import Context, RetryableToolError
from pegboard.types import Caller
from pegboard_plugins.servers.upstreams.caller_login import CallerLogin
from pegboard_plugins.servers.upstreams.link import Link
from pegboard_plugins.servers.upstreams.uses import Uses


class UserKey(NamedTuple):
    """The user of a connection.

    Attributes:
        caller: the identity of the caller.
        user_id: the user that a service names with its call; None for other callers.
        program: the client program of the caller, if the caller must agree that it uses the connection, or if tokens of
            programs may differ; else "".
    """

    caller: Caller
    user_id: str | None = None
    program: str = ""

    def __str__(self) -> str:
        return repr(self.user_id or self.caller.subject or self.caller.client_id or "the operator")


class ConnectionKey(NamedTuple):
    """The key of a user's connection. A user whose clients declare different capabilities has several.

    Attributes:
        user: the user.
        declared: the capabilities for questions that the connection declares, as JSON.
    """

    user: UserKey
    declared: bytes


def user_of(context: Context[Any]) -> UserKey:
    """Return the user of a call."""
    return UserKey(context.caller.identity, context.user_id if context.caller.service else None)


class Connection:
    """The connection of the host, or of one user: one link after another.

    Args:
        make: returns a link, which reads `token` from this object.
        idle_seconds: the time without calls after which a link is closed; 0 for never. Its lists are kept.
        login: the login of the user; None if the user cannot log in.
        on_idle: called when a link is closed after this time.

    Attributes:
        link: the link for the next call.
        uses: the running calls.
        token: the current token of the user; None for none.
        login: see above.
        needs_login: True if the server has refused the user, who can log in.
    """

    def __init__(
        self,
        make: Callable[[Connection], Link],
        idle_seconds: float,
        login: CallerLogin | None = None,
        on_idle: Callable[[], None] = lambda: None,
    ) -> None:
        self.token: str | None = None
        self.login = login
        self.needs_login = False
        self.uses = Uses(idle_seconds, self._sleep)
        self.link = make(self)
        self._make = make
        self._on_idle = on_idle
        self._replaced: dict[Link, asyncio.Task[None]] = {}

    def replace(self) -> None:
        """Let the next call open a new link. Close the old link in the background, when its calls have ended."""
        old, self.link = self.link, self._make(self)
        self._replaced[old] = retiring = asyncio.get_running_loop().create_task(old.retire())
        retiring.add_done_callback(lambda _: self._replaced.pop(old))

    def _sleep(self) -> None:
        if self.link.connected is not None:
            self._on_idle()
            self.replace()

    async def close(self) -> None:
        """Close the connection, also for running calls."""
        self.uses.close()
        closing = [link.close() for link in (self.link, *self._replaced)]
        await asyncio.gather(*closing, *self._replaced.values())


class UserLinks:
    """The connections of users, least recently used first.

    Args:
        server: the name of the server, for errors.
        most: the maximum number of connections.
        make: returns a new connection.
        forget: removes the lists of a connection.
    """

    def __init__(
        self,
        server: str,
        most: int,
        make: Callable[[ConnectionKey], Connection],
        forget: Callable[[ConnectionKey], Awaitable[None]],
    ) -> None:
        self._server = server
        self._most = most
        self._make = make
        self._forget = forget
        self._links: OrderedDict[ConnectionKey, Connection] = OrderedDict()
        self._keys: dict[UserKey, list[ConnectionKey]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def get(self, key: ConnectionKey) -> Connection | None:
        """Return a connection, or None if the user has none with these capabilities yet."""
        return self._links.get(key)

    def keys_of(self, user: UserKey) -> Sequence[ConnectionKey]:
        """Return the keys of a user's connections."""
        return self._keys.get(user, ())

    @asynccontextmanager
    async def use(self, key: ConnectionKey) -> AsyncIterator[Connection]:
        """Return a connection of a user. It is not closed before the block ends.

        Raises:
            RetryableToolError: too many other users have running calls, or the host stops.
        """
        if self._closed:
            raise RetryableToolError(f"The connections to the server {self._server!r} are closed.")
        user = self._links.get(key)
        if user is None:
            self._make_room()
            user = self._links[key] = self._make(key)
            self._keys.setdefault(key.user, []).append(key)
        self._links.move_to_end(key)
        with user.uses:
            yield user

    def _make_room(self) -> None:
        if len(self._links) < self._most:
            return
        key = next((key for key, user in self._links.items() if not user.uses.count), None)
        if key is None:
            raise RetryableToolError(
                f"Too many users are using the server {self._server!r} at the moment.", retry_after_ms=1000
            )
        self._keys[key.user].remove(key)
        if not self._keys[key.user]:
            del self._keys[key.user]
        dropping = asyncio.get_running_loop().create_task(self._drop(key, self._links.pop(key)))
        self._closing.add(dropping)
        dropping.add_done_callback(self._closing.discard)

    async def _drop(self, key: ConnectionKey, user: Connection) -> None:
        await user.close()
        if key not in self._links:
            await self._forget(key)

    async def close(self) -> None:
        """Close all connections. Open no further connections."""
        self._closed = True
        links, self._links = self._links, OrderedDict()
        await asyncio.gather(*(user.close() for user in links.values()), *self._closing)
