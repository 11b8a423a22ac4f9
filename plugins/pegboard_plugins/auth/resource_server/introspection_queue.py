"""Introspection of tokens, once for all requests with a token, and with limits for each peer.

Known tokens have their own limit, so that invented tokens do not delay known callers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from pegboard_plugins.auth.resource_server.claims import CheckUnavailableError, InvalidTokenError, VerifiedToken
from pegboard_plugins.auth.resource_server.introspection import Introspector
from pegboard_plugins.support.fair_limit import peer_network
from pegboard_plugins.support.latest_entries import LatestEntries

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
RETRY_SECONDS = 1.0
"""The time after which a client may repeat a request whose token was not introspected."""

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


class IntrospectionQueue:
    """Introspection of tokens. Refusals are remembered briefly.

    Args:
        refused_seconds: the time for which a refusal is remembered.
    """

    def __init__(self, refused_seconds: float) -> None:
        self._refused_seconds = min(refused_seconds, REFUSED_SECONDS)
        self._known: LatestEntries[bytes, None] = LatestEntries(MAX_KNOWN)
        self._refused: LatestEntries[bytes, tuple[float, str]] = LatestEntries(MAX_REFUSED)
        self._running: dict[bytes, asyncio.Task[_Result]] = {}
        self._waiting: Counter[str] = Counter()

    async def close(self) -> None:
        """Cancel running requests. Their callers get a `CheckUnavailableError`."""
        if tasks := list(self._running.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def introspect(self, presented: PresentedToken, servers: Sequence[Introspector]) -> VerifiedToken:
        """Return a token that one of the servers accepts.

        Raises:
            InvalidTokenError: the token is invalid.
            CheckUnavailableError: no server responded, or the peer has too many tokens waiting.
        """
        task = self._running.get(presented.digest)
        if task is None:
            self._check_refused(presented.digest)
            task = self._begin(presented._replace(peer=peer_network(presented.peer)), servers)
        result = await asyncio.shield(task)
        if isinstance(result, VerifiedToken):
            return result
        raise (
            InvalidTokenError(str(result))
            if isinstance(result, InvalidTokenError)
            else CheckUnavailableError(result.seconds)
        )

    def _check_refused(self, digest: bytes) -> None:
        refused = self._refused.get(digest)
        if refused is not None:
            if monotonic() < refused[0]:
                raise InvalidTokenError(refused[1])
            del self._refused[digest]

    def _begin(self, presented: PresentedToken, servers: Sequence[Introspector]) -> asyncio.Task[_Result]:
        known = presented.digest in self._known
        if not known:
            if self._waiting[presented.peer] >= MAX_ASKED_PER_PEER or self._waiting.total() >= MAX_ASKED:
                raise CheckUnavailableError(RETRY_SECONDS)
            self._waiting[presented.peer] += 1
        task = asyncio.get_running_loop().create_task(self._introspect_once(presented, servers, known=known))
        self._running[presented.digest] = task
        return task

    async def _introspect_once(
        self, presented: PresentedToken, servers: Sequence[Introspector], *, known: bool
    ) -> _Result:
        try:
            verified = await _first_result(presented, servers, known=known)
            self._known.keep(presented.digest, None)
            return verified
        except InvalidTokenError as error:
            self._known.pop(presented.digest, None)
            if self._refused_seconds:
                self._refused.keep(presented.digest, (monotonic() + self._refused_seconds, str(error)))
            return error
        except CheckUnavailableError as error:
            return error
        except asyncio.CancelledError:  # only `close` cancels this task
            return CheckUnavailableError(RETRY_SECONDS)
        finally:
            del self._running[presented.digest]
            if not known:
                self._release(presented.peer)

    def _release(self, peer: str) -> None:
        self._waiting[peer] -= 1
        if not self._waiting[peer]:
            del self._waiting[peer]


async def _first_result(presented: PresentedToken, servers: Sequence[Introspector], *, known: bool) -> VerifiedToken:
    """Return the result of the first server that knows the token. Later servers do not see the token.

    Raises:
        InvalidTokenError: the token is invalid, or no server knows it.
        CheckUnavailableError: a server that may know it does not respond, and no other server knows it.
    """
    missing: CheckUnavailableError | None = None
    for server in servers:
        try:
            verified = await server.verify(presented.token, presented.peer, known=known)
        except CheckUnavailableError as error:
            missing = error
            continue
        if verified is not None:
            return verified
    raise missing or InvalidTokenError("The token is not active.")
