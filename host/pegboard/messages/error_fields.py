"""The fields of errors that authors raise, checked before a protocol sends them, and exceptions as text."""

from __future__ import annotations

import logging
from traceback import walk_tb
from typing import Any

from pegboard.errors import AuthorizationRequiredError, ErrorKind, PluginError, ToolkitError
from pegboard.wire.codec import decode, encode

logger = logging.getLogger("pegboard")

MAX_EXTRA_BYTES = 8 * 1024
"""The size limit of the `extra` of an error, in bytes of JSON. A larger `extra` is removed."""


def describe_error(error: BaseException) -> str:
    """Return a one-line description of an exception for the log."""
    return f"{type(error).__name__}: {error}" if has_text(error) else type(error).__name__


def has_text(thing: object) -> bool:
    """Return True if `str()` of an author's object raises no exception."""
    try:
        return bool(str(thing) or True)
    except Exception:  # noqa: BLE001 - the author's own __str__
        return False


def presentable(error: ToolkitError) -> bool:
    """Check the fields of an error and convert its `extra` to JSON. Return False if a field has an invalid type."""
    fields: list[tuple[object, Any]] = [
        (error.additional_prompt_content, str | None),
        (error.retry_after_ms, int | None),
        (error.status_code, int | None),
        (error.kind, ErrorKind),
        (error.can_retry, bool),
    ]
    if isinstance(error, AuthorizationRequiredError):
        fields += [(error.provider, str), (error.scopes, tuple), (error.status, str), (error.hint, str)]
        fields += [(error.url, str | None), (error.authorization_id, str | None), (error.login_command, tuple)]
    if error.extra:
        error.extra = _json(error)
    detail: object = error.developer_message
    if not isinstance(detail, str | None):
        error.developer_message = str(detail) if has_text(detail) else type(detail).__name__
    return has_text(error) and all(isinstance(value, kind) for value, kind in fields)


def _json(error: ToolkitError) -> dict[str, Any]:
    """Return the `extra` of an error as JSON, or an empty dict if it is invalid or too large."""
    try:
        text = encode(error.extra)
        extra = decode(text) if len(text) <= MAX_EXTRA_BYTES else None
    except (TypeError, ValueError, RecursionError):
        extra = None
    if isinstance(extra, dict):
        return extra
    name = type(error).__name__
    logger.error("the extra of a %s was removed: it must be a JSON object of at most %d bytes", name, MAX_EXTRA_BYTES)
    return {}


# --- Exceptions of plugins in messages for the operator.


def failure_text(error: BaseException) -> str:
    """Return an exception as one line without control characters."""
    text = " ".join(str(error).split()) if has_text(error) else ""  # `__str__` is code of the plugin too
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    if isinstance(error, PluginError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def failure_location(error: BaseException, module: str) -> str:
    """Return the file and line in the module at which the import failed. Return "" if the message contains both."""
    if isinstance(error, SyntaxError):
        return ""
    own = module.partition(".")[0]
    names = [(str(frame.f_globals.get("__name__")), frame, line) for frame, line in walk_tb(error.__traceback__)]
    locations = [
        f" ({frame.f_code.co_filename}:{line})" for name, frame, line in names if name.partition(".")[0] == own
    ]
    return locations[-1] if locations else ""
