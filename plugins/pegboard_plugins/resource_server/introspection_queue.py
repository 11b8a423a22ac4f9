"""Introspection of tokens, once for all requests with a token, and with limits for each peer.

Known tokens have their own limit, so that invented tokens do not delay known callers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Sequence
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from pegboard_plugins.resource_server.claims import CheckUnavailableError, InvalidTokenError, VerifiedToken
from pegboard_plugins.resource_server.fair_limit import peer_network
from pegboard_plugins.resource_server.introspection import Introspector

MAX_ASKED = 1000
"""The number of unknown tokens that may wait for a response at once."""
MAX_ASKED_PER_PEER = 50
"""The number of these tokens from one peer."""
MAX_KNOWN = 10_000
"""The number of tokens that are remembered as known."""
MAX_REFUSED = 10_000
"""The number of remembered refusals."""
REFUSED_SECONDS = 5.0
"""The maximum time for which a refusal is remembered. The token may be valid a moment later."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Result = VerifiedToken | InvalidTokenError | CheckUnavailableError


class PresentedToken(NamedTuple):
    """A token to introspect.

    Attributes:
        token: the token.
        digest: its digest, the key of all caches.
        peer: the address of the client.
    """

    token: str
    digest: bytes
    peer: str


class LatestEntries(dict[_Key, _Value], Generic[_Key, _Value]):
    """A dictionary of the latest entries.

    Args:
        most: the maximum number of entries. The oldest is removed first.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: _Key, value: _Value) -> None:
        """Add an entry as the latest."""
        self.pop(key, None)
        while self and len(self) >= self._most:
            del self[next(iter(self))]
        if self._most:
            self[key] = value


class IntrospectionQueue:
    """Introspection of tokens. Refusals are remembered briefly.

    Args:
        refused_seconds: the time for which a refusal is remembered.
    """

    def __init__(self, refused_seconds: float) -> None:
        self._refused_seconds = min(refused_seconds, REFUSED_SECONDS)
        self._known: LatestEntries[bytes, None] = LatestEntries(MAX_KNOWN)
        self._refused: LatestEntries[bytes, tuple[float, str]] = LatestEntries(MAX_REFUSED)
        self._asking: dict[bytes, asyncio.Task[_Result]] = {}
        self._new: Counter[str] = Counter()

    async def close(self) -> None:
        """Cancel running requests."""
        if tasks := list(self._asking.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def ask(self, asked: PresentedToken, servers: Sequence[Introspector]) -> VerifiedToken:
        """Return a token that one of the servers accepts.

        Raises:
            InvalidTokenError: the token is invalid.
            CheckUnavailableError: no server responded, or the peer has too many tokens waiting.
        """
        task = self._asking.get(asked.digest)
        if task is None:
            self._check_refused(asked.digest)
            task = self._begin(asked._replace(peer=peer_network(asked.peer)), servers)
        found = await asyncio.shield(task)
        if isinstance(found, VerifiedToken):
            return found
        raise (
            InvalidTokenError(str(found))
            if isinstance(found, InvalidTokenError)
            else CheckUnavailableError(found.seconds)
        )

    def _check_refused(self, digest: bytes) -> None:
        refused = self._refused.get(digest)
        if refused is not None:
            if monotonic() < refused[0]:
                raise InvalidTokenError(refused[1])
            del self._refused[digest]

    def _begin(self, asked: PresentedToken, servers: Sequence[Introspector]) -> asyncio.Task[_Result]:
        known = asked.digest in self._known
        if not known:
            if self._new[asked.peer] >= MAX_ASKED_PER_PEER or self._new.total() >= MAX_ASKED:
                raise CheckUnavailableError(1)
            self._new[asked.peer] += 1
        task = asyncio.get_running_loop().create_task(self._ask_once(asked, servers, known=known))
        self._asking[asked.digest] = task
        return task

    async def _ask_once(self, asked: PresentedToken, servers: Sequence[Introspector], *, known: bool) -> _Result:
        try:
            verified = await _first(asked, servers, known=known)
            self._known.keep(asked.digest, None)
            return verified
        except InvalidTokenError as error:
            self._known.pop(asked.digest, None)
            if self._refused_seconds:
                self._refused.keep(asked.digest, (monotonic() + self._refused_seconds, str(error)))
            return error
        except CheckUnavailableError as error:
            return error
        finally:
            del self._asking[asked.digest]
            if not known:
                self._end(asked.peer)

    def _end(self, peer: str) -> None:
        self._new[peer] -= 1
        if not self._new[peer]:
            del self._new[peer]


async def _first(asked: PresentedToken, servers: Sequence[Introspector], *, known: bool) -> VerifiedToken:
    """Return the result of the first server that knows the token. Later servers do not see the token.

    Raises:
        InvalidTokenError: the token is invalid, or no server knows it.
        CheckUnavailableError: a server that may know it does not respond, and no other server knows it.
    """
    missing: CheckUnavailableError | None = None
    for server in servers:
        try:
            verified = await server.verify(asked.token, asked.peer, known=known)
        except CheckUnavailableError as error:
            missing = error
            continue
        if verified is not None:
            return verified
    raise missing or InvalidTokenError("The token is not active.")
