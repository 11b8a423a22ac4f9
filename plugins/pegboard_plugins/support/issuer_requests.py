"""Requests to an issuer of identities, for browsers of strangers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pegboard_client import JsonRequests, ServerUnavailableError

MAX_WAITING_BROWSERS = 100
"""The limit of the browsers that wait for a response of one issuer."""


class IssuerRequests:
    """Opens requests to one issuer, for a limited number of browsers at the same time.

    Args:
        issuer: the URL of the issuer.
    """

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._waiting = 0

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[JsonRequests]:
        """Yield an object for requests of one browser.

        Raises:
            ServerUnavailableError: too many browsers wait for the issuer.
        """
        if self._waiting >= MAX_WAITING_BROWSERS:
            raise ServerUnavailableError("too many logins wait for the issuer.")
        self._waiting += 1
        try:
            async with JsonRequests.opened(self._issuer) as requests:
                yield requests
        finally:
            self._waiting -= 1
