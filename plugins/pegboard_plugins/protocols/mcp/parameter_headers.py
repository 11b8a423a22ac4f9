"""The headers that mirror arguments (`Mcp-Param-*`), compared before a call runs (2026-07-28, SEP-2243)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from hmac import compare_digest
from typing import Any

from pegboard.types import Call, Caller, Headers, Tool
from pegboard_plugins.protocols.mcp.headers import decode_header_value, header_mismatch, header_value
from pegboard_plugins.protocols.mcp.mirrored_arguments import MAX_EXACT_INTEGER, MirroredArguments

PARAMETER_HEADER_PREFIX = "Mcp-Param-"

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_MAX_NUMBER_CHARACTERS = 64


def check_parameters(
    headers: Headers, call: Call, find: Callable[[str, Caller], Tool | None], mirrored: MirroredArguments
) -> None:
    """Reject a call whose headers differ from its arguments: an intermediary may have acted on the headers.

    Raises:
        ProtocolError: -32020, naming the header.
    """
    name = call.params.get("name")
    if call.method != "tools/call" or type(name) is not str:
        return
    tool = find(name, call.caller)
    expected = () if tool is None else mirrored.of(tool)
    arguments = call.params.get("arguments")
    for argument in expected:
        _check(headers, PARAMETER_HEADER_PREFIX + argument.header, _at(arguments, argument.path))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = (value if isinstance(value, Mapping) else {}).get(name)
    return value


def _check(headers: Headers, header: str, value: Any) -> None:
    field = header_value(headers, header)
    if value is None:
        if field is not None:
            raise header_mismatch(f"{header} is present, but its argument is missing")
        return
    if field is None:
        raise header_mismatch(f"{header} is missing")
    if type(value) in (int, float) and abs(value) > MAX_EXACT_INTEGER:
        raise header_mismatch(f"the argument of {header} is beyond 2^53 - 1")
    if not _equal(decode_header_value(field), value):
        raise header_mismatch(f"the value of {header} differs from the body")


def _equal(text: str, value: Any) -> bool:
    if type(value) in (int, float):
        return len(text) <= _MAX_NUMBER_CHARACTERS and bool(_NUMBER.fullmatch(text)) and Decimal(text) == Decimal(value)
    if type(value) is bool:
        value = "true" if value else "false"
    return type(value) is str and compare_digest(text.encode(), value.encode("utf-8", "surrogatepass"))
