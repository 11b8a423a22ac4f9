"""HTTP requests for the contracts of authenticators and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pegboard.types.callers import ANONYMOUS, EMPTY, Caller
from pegboard.types.http import Request


class FixedHeaders:
    """The header fields of a request. Names may be in upper or lower case.

    Args:
        fields: the fields; each name occurs once.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = {name.lower(): value for name, value in fields.items()}

    def get(self, key: str, /) -> str | None:
        """Return a field, or None if the request does not have it."""
        return self._fields.get(key.lower())

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Return the values of all fields with a name."""
        value = self.get(key)
        return default if value is None else [value]


def http_request(
    method: str = "GET",
    path: str = "/",
    body: bytes = b"",
    headers: Mapping[str, str] = EMPTY,
    query: Mapping[str, str] = EMPTY,
    caller: Caller = ANONYMOUS,
) -> Request:
    """Return a request from another machine."""
    return Request(method, path, query, FixedHeaders(headers), body, caller, peer="203.0.113.9")
