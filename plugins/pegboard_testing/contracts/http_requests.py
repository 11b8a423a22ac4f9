"""HTTP requests for the contracts of authenticators and routes."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.types.callers import ANONYMOUS, EMPTY, Caller
from pegboard.types.header_fields import header_fields
from pegboard.types.http import Request


def http_request(
    method: str = "GET",
    path: str = "/",
    body: bytes = b"",
    headers: Mapping[str, str] = EMPTY,
    query: Mapping[str, str] = EMPTY,
    caller: Caller = ANONYMOUS,
) -> Request:
    """Return a request from another machine."""
    return Request(method, path, query, header_fields(headers), body, caller, peer="203.0.113.9")
