"""The HTTP headers of MCP: the requested revision, and the parts of the body that headers mirror (2026-07-28)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from multidict import istr

from pegboard.plugin import ProtocolError
from pegboard.types import Headers

PROTOCOL_VERSION_HEADER: Final = istr("MCP-Protocol-Version")  # a lookup by an istr is faster than by a string
SESSION_HEADER: Final = istr("Mcp-Session-Id")
_METHOD_HEADER: Final = istr("Mcp-Method")
_NAME_HEADER: Final = istr("Mcp-Name")
HEADER_MISMATCH: Final = -32020

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods that require `Mcp-Name`, and the parameter that it mirrors."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)


def named_revision(headers: Headers) -> str | None:
    """Return the revision in the headers, or None without one. Return an unknown revision if several are named."""
    values = headers.getall(PROTOCOL_VERSION_HEADER, ())
    if len(values) == 1:
        return values[0].strip(" \t")
    return ", ".join(value.strip(" \t") for value in values) if values else None


def check_mirrored(
    headers: Headers, method: str, params: Mapping[str, Any], name_parameter: Callable[[str], str | None]
) -> None:
    """Reject a request whose headers differ from its body: an intermediary may have acted on the headers.

    Args:
        headers: the header fields of the request.
        method: the method of the request.
        params: the parameters of the request.
        name_parameter: returns the parameter that `Mcp-Name` mirrors, for a method of a plugin. It may be absent there.

    Raises:
        ProtocolError: -32020, naming the header.
    """
    value = header_value(headers, _METHOD_HEADER)
    if value != method:
        raise _differs(_METHOD_HEADER, value)
    source = _NAMED_BY.get(method) or name_parameter(method)
    if source is None:
        return
    name = params.get(source)
    value = header_value(headers, _NAME_HEADER)
    if value is None and method not in _NAMED_BY:
        return  # FastMCP's client of tasks leaves it out, and no intermediary can have acted on it
    if value is None or decode_header_value(value) != (name if isinstance(name, str) else ""):
        raise _differs(_NAME_HEADER, value)


def check_revision(headers: Headers, revision: str, supported: Sequence[str]) -> None:
    """Reject a request whose header names another revision than its body.

    Raises:
        ProtocolError: -32020.
    """
    try:
        value = header_value(headers, PROTOCOL_VERSION_HEADER)
        if value != revision:
            raise _differs(PROTOCOL_VERSION_HEADER, value)
    except ProtocolError as error:
        if named_revision(headers) in supported:
            raise
        raise ProtocolError(error.code, error.message, {"supported": list(supported)}) from None


def _differs(name: str, value: str | None) -> ProtocolError:
    return header_mismatch(f"{name} is missing" if value is None else f"the value of {name} differs from the body")


def header_value(headers: Headers, name: str) -> str | None:
    """Return the value of a header that may appear once, without decoding base64. Return None for a missing header.

    Raises:
        ProtocolError: the header appears more than once, or has invalid characters.
    """
    values = headers.getall(name, ())
    if not values:
        return None
    if len(values) > 1:
        raise header_mismatch(f"{name} appears more than once")
    value = values[0].strip(" \t")
    if not (value.isascii() and (value.isprintable() or value.replace("\t", " ").isprintable())):
        raise header_mismatch(f"{name} has characters that are not allowed in a header")
    return value


def decode_header_value(value: str) -> str:
    """Return a header's value. Decode the base64 form.

    Raises:
        ProtocolError: the base64 is invalid or not canonical.
    """
    match = _ENCODED.fullmatch(value) if value.startswith("=?") else None
    if match is None:
        return value
    try:
        raw = base64.b64decode(match[1], validate=True)
        text = raw.decode()
    except (binascii.Error, ValueError):
        raise header_mismatch("a value is not base64 of UTF-8") from None
    if base64.b64encode(raw).decode() != match[1]:
        raise header_mismatch("a value is not canonical base64")
    return text


def header_mismatch(problem: str) -> ProtocolError:
    """Return the error for headers that differ from the body."""
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {problem}")
