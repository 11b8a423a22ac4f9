"""Questions about tokens to the servers that know them: one for all who bring a token, and few for each peer.

Tokens that were good have a lane of their own, so that invented tokens do not hold up callers that are known.
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
"""How many tokens that are not known are asked about, or wait for that, at once."""
MAX_ASKED_PER_PEER = 50
"""How many of them one peer may have brought."""
MAX_KNOWN = 10_000
"""How many tokens are known to have been good."""
MAX_REFUSED = 10_000
"""How many refusals are remembered."""
REFUSED_SECONDS = 5.0
"""For how long at most a refusal is remembered: the token may be good a moment later."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Result = VerifiedToken | InvalidTokenError | CheckUnavailableError


class PresentedToken(NamedTuple):
    """A token to ask about.

    Attributes:
        token: the token.
        digest: its digest, by which it is remembered.
        peer: the address that it came from.
    """

    token: str
    digest: bytes
    peer: str


class LatestEntries(dict[_Key, _Value], Generic[_Key, _Value]):
    """A dictionary of the latest entries.

    Args:
        most: the number of entries; the oldest goes.
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
    """Asks about tokens, and remembers briefly those that are no good.

    Args:
        refused_seconds: for how long a refusal is remembered.
    """

    def __init__(self, refused_seconds: float) -> None:
        self._refused_seconds = min(refused_seconds, REFUSED_SECONDS)
        self._known: LatestEntries[bytes, None] = LatestEntries(MAX_KNOWN)
        self._refused: LatestEntries[bytes, tuple[float, str]] = LatestEntries(MAX_REFUSED)
        self._asking: dict[bytes, asyncio.Task[_Result]] = {}
        self._new: Counter[str] = Counter()

    async def close(self) -> None:
        """End the questions."""
        if tasks := list(self._asking.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def ask(self, asked: PresentedToken, servers: Sequence[Introspector]) -> VerifiedToken:
        """Have a token asked about.

        Raises:
            InvalidTokenError: it is no good.
            CheckUnavailableError: there is no answer, or its peer has too many questions.
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
    """Return the answer of the first server that has the token; the next is not told of it then.

    Raises:
        InvalidTokenError: it is no good there, or no server has it.
        CheckUnavailableError: a server that may have it does not answer, and no other has it.
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
