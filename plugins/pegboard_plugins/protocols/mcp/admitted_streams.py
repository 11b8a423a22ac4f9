"""Streams apart from calls. They end when the request that opened them would no longer be admitted.

They also end when the token of their caller expires.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from time import time
from typing import Protocol
from weakref import WeakKeyDictionary, ref

from pegboard.types import Caller, Request, Response
from pegboard_plugins.support.refusal_log import RefusalLog

CHECK_SECONDS = 15.0
"""The interval in seconds after which the caller of each open stream is authenticated again."""

MAX_SECONDS = 15.0
"""The time limit in seconds for the check of one stream. The stream then stays open until its next check."""

MIN_LIFETIME_SECONDS = 60.0
"""The shortest life of a stream. Clients with an expiring token or a wrong clock would else reconnect in a loop."""

_AUDIT = RefusalLog()
logger = logging.getLogger("pegboard.mcp")


def seconds_left(caller: Caller) -> float | None:
    """Return the remaining validity of the caller's token in seconds, or None for a token without expiry."""
    return None if caller.expires_at is None else max(caller.expires_at - time(), MIN_LIFETIME_SECONDS)


class AdmittedStream(Protocol):
    """An open stream."""

    def stop(self) -> None:
        """End the stream. The client may open another stream."""


class AdmittedStreams:
    """The open streams of one endpoint. A stream whose caller is no longer admitted is stopped.

    The reason may be a reload without the token, a login that has ended, or a token that was revoked. Streams of the
    operator are not checked.

    Args:
        authenticate: authenticates a request again with the policy of the endpoint.
    """

    def __init__(self, authenticate: Callable[[Request], Awaitable[Caller | Response]]) -> None:
        self._authenticate = authenticate
        self._requests: WeakKeyDictionary[AdmittedStream, Request] = WeakKeyDictionary()  # without ended streams
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, stream: AdmittedStream, request: Request) -> None:
        """Check a stream until it ends.

        Args:
            stream: the stream.
            request: the request that opened it, with the caller that was admitted.
        """
        if request.caller.trusted:
            return
        self._requests[stream] = request._replace(notes=None)
        if self._timer is None and self._task is None:
            self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        # the variables of a request would stay in memory
        self._timer = loop.call_later(CHECK_SECONDS, self._begin, context=Context())

    def _begin(self) -> None:
        self._timer = None
        self._task = asyncio.create_task(self._check_all())

    async def _check_all(self) -> None:
        try:
            for stream in self._requests.keyrefs():
                await asyncio.sleep(0)  # many checks do not delay other requests
                await self._check(stream)
        finally:
            self._task = None
            if self._requests:
                self._start()

    async def _check(self, reference: ref[AdmittedStream]) -> None:
        stream = reference()
        if stream is None or await self._is_admitted(request := self._requests[stream]):
            return
        facts = {"peer": request.peer, "path": request.path}
        _AUDIT.refused("a stream whose caller is no longer admitted", request.caller, facts, logging.INFO)
        del self._requests[stream]
        stream.stop()

    async def _is_admitted(self, request: Request) -> bool:
        """Return True if the request would be admitted, with no fewer scopes, or if this cannot be known now."""
        before = request.caller
        limit = asyncio.timeout(MAX_SECONDS)
        try:
            async with limit:
                now = await self._authenticate(request._replace(caller=request.channel))
        except Exception:
            if limit.expired():
                return True
            logger.exception("an authenticator failed: the stream of its caller ends")
            return False
        if isinstance(now, Caller):
            return now.identity == before.identity and now.scopes >= before.scopes
        return now.status >= 500
