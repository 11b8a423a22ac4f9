"""Calls that ended without a response of the server, which may still ask for them.

A program names no call in its questions. The only running call that can ask may be that of another user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pegboard.plugin import ProtocolError
from pegboard_client import Asked, QuestionHandler, ServerTimeoutError
from pegboard_plugins.servers.upstreams.user_links import UserKey
from pegboard_plugins.support.jsonrpc import INVALID_REQUEST

if TYPE_CHECKING:
    from pegboard_client import Client

MAX_ABANDONED_SECONDS = 300.0
"""How long a server may ask for a call that has ended, as far as the host expects it."""


class AbandonedCalls:
    """The abandoned calls of one server, by connection and user."""

    def __init__(self) -> None:
        self._ends: WeakKeyDictionary[Client, dict[UserKey, float]] = WeakKeyDictionary()

    @contextmanager
    def noted(self, client: Client, user: UserKey) -> Iterator[None]:
        """Note a call of a user that is cancelled, or has no response in time."""
        try:
            yield
        except (asyncio.CancelledError, ServerTimeoutError):
            self._ends.setdefault(client, {})[user] = monotonic() + MAX_ABANDONED_SECONDS
            raise

    def guarded(self, client: Client, user: UserKey, ask: QuestionHandler) -> QuestionHandler:
        """Return a function that refuses questions which may belong to an abandoned call of another user."""

        async def asked(question: Asked) -> Mapping[str, Any]:
            now, ends = monotonic(), self._ends.get(client, {})
            if any(other != user and end > now for other, end in ends.items()):
                raise ProtocolError(INVALID_REQUEST, "the question may belong to a cancelled call of another user")
            return await ask(question)

        return asked
