"""The cookies of requests."""

from __future__ import annotations

from pegboard.types import Request


def request_cookies(request: Request) -> dict[str, str]:
    """Return the cookies of a request by name. Other programs of the site may set cookies with any characters."""
    pairs = "; ".join(request.headers.getall("Cookie", ())).split("; ")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
