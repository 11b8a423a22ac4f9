"""Arguments of a tool on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.terminal.printing import UsageError
from pegboard.wire.codec import decode


def parse_arguments(texts: Sequence[str]) -> dict[str, Any]:
    """Parse `key=value` as a string and `key:=json` as JSON.

    Raises:
        UsageError: an argument has another form, invalid JSON or bytes that are not UTF-8, or a key occurs twice.
    """
    arguments: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.rstrip(":"):
            raise UsageError(f"{text!r} is not an argument: write key=value for a string, key:=json for JSON")
        if not text.isascii() and _is_broken(text):
            raise UsageError(f"{text!r} is not UTF-8")
        is_json, key = key.endswith(":"), key.removesuffix(":")
        if key in arguments:
            raise UsageError(f'the argument {key!r} is given twice: write a list as {key}:=\'["a", "b"]\'')
        arguments[key] = _json(text, key, value) if is_json else value
    return arguments


def _is_broken(text: str) -> bool:
    """Return True if an argument was not UTF-8. Python represents such bytes as lone surrogates."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def _json(text: str, key: str, value: str) -> Any:
    try:
        return decode(value.encode())
    except ValueError as error:
        raise UsageError(f"{text!r}: the value of {key!r} is not JSON: {error}") from None
