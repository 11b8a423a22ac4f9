"""JSON of servers, which need not be valid."""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import from_json

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape sequence in a string. The group is a lone surrogate, which is no character."""


def read_json(data: bytes) -> Any:
    """Return the value of JSON. Lone surrogates become U+FFFD: many servers cut texts within a character.

    Raises:
        ValueError: the data are not JSON.
    """
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError:
        whole = _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)
        if whole == data:
            raise
        return from_json(whole, allow_inf_nan=False)


def unreadable_response(data: bytes) -> dict[str, Any] | None:
    """Return a response without a result in place of one with NaN or an infinity, so that its request fails at once.

    Return None for other data.
    """
    try:
        message = from_json(data, allow_inf_nan=True)
    except ValueError:
        return None
    is_response = isinstance(message, dict) and "method" not in message
    return {"id": message.get("id")} if is_response else None
