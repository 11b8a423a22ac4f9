"""The connections of users to one server, which no other user shares."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, NamedTuple

from pegboard import Context, RetryableToolError
from pegboard.types import Caller
from pegboard_plugins.servers.upstreams.caller_login import CallerLogin
from pegboard_plugins.servers.upstreams.link import Link


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


class UserLink:
    """The connection of one user.

    Args:
        make: returns the connection, which reads `token` from this object.

    Attributes:
        link: the connection.
        token: the current token of the user; None for none.
        login: the login of the user; None if the user cannot log in.
        needs_login: True if the server has refused the user, who can log in.
        uses: the number of running calls.
        used_at: the time of the last use.
    """

    def __init__(self, make: Callable[[UserLink], Link]) -> None:
        self.token: str | None = None
        self.login: CallerLogin | None = None
        self.needs_login = False
        self.uses = 0
        self.used_at = monotonic()
        self.link = make(self)
        self._make = make

    def renew(self) -> Link:
        """Replace the connection by a new one for the next call. Return the old connection, which must be closed."""
        old, self.link = self.link, self._make(self)
        return old


class UserLinks:
    """The connections of users, least recently used first.

    Args:
        server: the name of the server, for errors.
        most: the maximum number of connections.
        idle_seconds: the time without calls after which a connection is closed; 0 for never. Its lists are kept.
        make: returns a new connection.
        forget: removes the lists of a connection.
    """

    def __init__(
        self,
        server: str,
        most: int,
        idle_seconds: float,
        make: Callable[[ConnectionKey], UserLink],
        forget: Callable[[ConnectionKey], Awaitable[None]],
    ) -> None:
        self._server = server
        self._most = most
        self._idle_seconds = idle_seconds
        self._make = make
        self._forget = forget
        self._links: OrderedDict[ConnectionKey, UserLink] = OrderedDict()
        self._keys: dict[UserKey, list[ConnectionKey]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._retiring: set[Link] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def get(self, key: ConnectionKey) -> UserLink | None:
        """Return a connection, or None if the user has none with these capabilities yet."""
        return self._links.get(key)

    def keys_of(self, user: UserKey) -> Sequence[ConnectionKey]:
        """Return the keys of a user's connections."""
        return self._keys.get(user, ())

    @asynccontextmanager
    async def use(self, key: ConnectionKey) -> AsyncIterator[UserLink]:
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
        user.uses += 1
        self._watch()
        try:
            yield user
        finally:
            user.uses -= 1
            user.used_at = monotonic()

    def renew(self, key: ConnectionKey) -> UserLink | None:
        """Close the open connection of a key after its calls, and let the next use open another one.

        Return None if the key has none.

        A connection that is being opened has waiting calls, and reads the credentials of each request when it sends it.
        """
        user = self._links.get(key)
        if user is not None and user.link.connected is not None:
            old = user.renew()
            self._retiring.add(old)
            self._end(self._retire(old))
        return user

    async def _retire(self, link: Link) -> None:
        await link.retire()
        self._retiring.discard(link)

    def _make_room(self) -> None:
        if len(self._links) < self._most:
            return
        key = next((key for key, user in self._links.items() if not user.uses), None)
        if key is None:
            raise RetryableToolError(
                f"Too many users are using the server {self._server!r} at the moment.", retry_after_ms=1000
            )
        self._keys[key.user].remove(key)
        if not self._keys[key.user]:
            del self._keys[key.user]
        self._end(self._drop(key, self._links.pop(key)))

    async def _drop(self, key: ConnectionKey, user: UserLink) -> None:
        await user.link.close()
        if key not in self._links:
            await self._forget(key)

    # --- idle connections

    def _watch(self) -> None:
        if self._timer is None and self._idle_seconds:
            self._timer = asyncio.get_running_loop().call_later(self._idle_seconds / 2, self._close_idle)

    def _close_idle(self) -> None:
        """Close idle connections, and check the others later."""
        self._timer = None
        oldest = monotonic() - self._idle_seconds
        for user in self._links.values():
            if not user.uses and user.used_at <= oldest and user.link.connected is not None:
                self._end(user.renew().close())
        if any(user.link.connected is not None or user.uses for user in self._links.values()):
            self._watch()

    def _end(self, closing: Awaitable[None]) -> None:
        task = asyncio.ensure_future(closing)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all connections. Open no further connections."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        links, self._links = self._links, OrderedDict()
        open_links = [*(user.link for user in links.values()), *self._retiring]
        await asyncio.gather(*(link.close() for link in open_links), *self._closing)
