"""The media types of request bodies, and of responses that a client accepts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from multidict import istr

from pegboard.types import Headers, Response

JSON_TYPE = "application/json"
EVENT_STREAM_TYPE = "text/event-stream"

_CONTENT_TYPE, _ACCEPT = istr("Content-Type"), istr("Accept")  # a lookup by an istr is faster than by a string


class Accepted(NamedTuple):
    """The media types that the client accepts in a response."""

    json: bool
    events: bool


def unsupported_body(headers: Headers) -> Response | None:
    """Return the rejection of a POST body, or None for a body with an accepted type.

    Only JSON is accepted, because web pages can send JSON to another origin only if CORS allows it.
    """
    return _unsupported(tuple(headers.getall(_CONTENT_TYPE, ())))


@lru_cache(maxsize=64)
def _unsupported(fields: Sequence[str]) -> Response | None:
    media, _, parameters = (fields[0] if len(fields) == 1 else "").partition(";")
    if media.strip().lower() == JSON_TYPE and _charset(parameters) in ("", "utf-8", "utf8"):
        return None
    return Response(status=415, body=b"The body must be application/json in UTF-8.\n", content_type="text/plain")


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""


def accepted_types(headers: Headers) -> Accepted:
    """Return the accepted types. A missing or empty Accept header accepts JSON and event streams."""
    return _accepted(tuple(headers.getall(_ACCEPT, ())))


@lru_cache(maxsize=64)
def _accepted(fields: Sequence[str]) -> Accepted:
    if not any(field.strip(" \t,") for field in fields):
        return Accepted(json=True, events=True)
    ranges = {name for part in ",".join(fields).split(",") if (name := _range(part))}
    anything = "*/*" in ranges
    return Accepted(
        anything or bool(ranges & {JSON_TYPE, "application/*"}),
        anything or bool(ranges & {EVENT_STREAM_TYPE, "text/*"}),
    )


def _range(part: str) -> str:
    """Return a media range of Accept, or "" if its weight is 0 (RFC 9110 section 12.4.2)."""
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    refused = any(parameter.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for parameter in parameters)
    return "" if refused else name


NOT_ACCEPTABLE = Response(
    status=406, body=b"Accept must list application/json and text/event-stream.\n", content_type="text/plain"
)
