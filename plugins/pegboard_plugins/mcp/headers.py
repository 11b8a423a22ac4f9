"""The HTTP headers of MCP: which revision is asked for, and the parts of the body that are mirrored (2026-07-28)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from pegboard.plugin import ProtocolError
from pegboard.types import Headers
from pegboard_plugins.mcp.revisions import SUPPORTED_REVISIONS

PROTOCOL_VERSION_HEADER: Final = "MCP-Protocol-Version"
SESSION_HEADER: Final = "Mcp-Session-Id"
HEADER_MISMATCH: Final = -32020

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods whose `Mcp-Name` must be there, and the parameter that it mirrors."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)


def named_revision(headers: Headers) -> str | None:
    """The revision that the headers name; what is no revision at all when they name more than one."""
    values = headers.getall(PROTOCOL_VERSION_HEADER, ())
    if len(values) == 1:
        return values[0].strip(" \t")
    return ", ".join(value.strip(" \t") for value in values) if values else None


def check_mirrored(headers: Headers, method: str, params: Mapping[str, Any], name_parameter: str | None = None) -> None:
    """Refuse a request whose headers say something other than its body: some intermediary saw another request.

    Args:
        headers: the request's.
        method: its method.
        params: its parameters.
        name_parameter: the one that `Mcp-Name` mirrors, for a method that the specification does not have.

    Raises:
        ProtocolError: -32020, naming the header.
    """
    _same(headers, "Mcp-Method", method)
    source = _NAMED_BY.get(method, name_parameter)
    if source is not None:
        value = params.get(source)
        _same(headers, "Mcp-Name", value if isinstance(value, str) else "", encoded=True)


def check_revision(headers: Headers, revision: str) -> None:
    """Refuse a request whose header names another revision than its body.

    Raises:
        ProtocolError: -32020.
    """
    try:
        _same(headers, PROTOCOL_VERSION_HEADER, revision)
    except ProtocolError as error:
        if named_revision(headers) in SUPPORTED_REVISIONS:
            raise
        raise ProtocolError(error.code, error.message, {"supported": list(SUPPORTED_REVISIONS)}) from None


def _same(headers: Headers, name: str, expected: str, *, encoded: bool = False) -> None:
    value = header_value(headers, name)
    if value is None:
        raise header_mismatch(f"{name} is missing")
    if (decode_header_value(value) if encoded else value) != expected:
        raise header_mismatch(f"the value of {name} is not that of the body")


def header_value(headers: Headers, name: str) -> str | None:
    """The value of a header that may be given once, still in its base64 form if it has one; None when it is missing.

    Raises:
        ProtocolError: it is given more than once, or holds what headers cannot carry.
    """
    values = headers.getall(name, ())
    if not values:
        return None
    if len(values) > 1:
        raise header_mismatch(f"{name} is given more than once")
    value = values[0].strip(" \t")
    if not (value.isascii() and (value.isprintable() or value.replace("\t", " ").isprintable())):
        raise header_mismatch(f"{name} holds characters that a header cannot carry")
    return value


def decode_header_value(value: str) -> str:
    """A header's value, out of its base64 form if it has one.

    Raises:
        ProtocolError: the base64 is not sound, or not the only way to write what it stands for.
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


def header_mismatch(what: str) -> ProtocolError:
    """The error for headers that do not fit the body."""
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {what}")
