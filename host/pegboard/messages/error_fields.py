"""The fields of errors that authors raise: whether any protocol can send them."""

from __future__ import annotations

import logging
from typing import Any

from pegboard.errors import AuthorizationRequiredError, ErrorKind, ToolkitError
from pegboard.wire.codec import decode, encode

logger = logging.getLogger("pegboard")

MAX_EXTRA_BYTES = 8 * 1024
"""How much JSON the `extra` of an error may hold; what is larger is left out."""


def describe_error(error: BaseException) -> str:
    """An exception in a line of the log."""
    return f"{type(error).__name__}: {error}" if speaks(error) else type(error).__name__


def speaks(thing: object) -> bool:
    """Whether something of an author's can say what it is."""
    try:
        return bool(str(thing) or True)
    except Exception:  # noqa: BLE001 - the author's own __str__
        return False


def presentable(error: ToolkitError) -> bool:
    """Whether an error holds what its fields promise, so that any protocol can send it; `extra` is made JSON."""
    given: list[tuple[object, Any]] = [
        (error.additional_prompt_content, str | None),
        (error.retry_after_ms, int | None),
        (error.status_code, int | None),
        (error.kind, ErrorKind),
        (error.can_retry, bool),
    ]
    if isinstance(error, AuthorizationRequiredError):
        given += [(error.provider, str), (error.scopes, tuple), (error.status, str)]
        given += [(error.url, str | None), (error.authorization_id, str | None)]
    if error.extra:
        error.extra = _json(error)
    detail: object = error.developer_message
    if not isinstance(detail, str | None):
        error.developer_message = str(detail) if speaks(detail) else type(detail).__name__
    return speaks(error) and all(isinstance(value, kind) for value, kind in given)


def _json(error: ToolkitError) -> dict[str, Any]:
    """The `extra` of an error as JSON has it; nothing where JSON has no form for it, or it is too much."""
    try:
        text = encode(error.extra)
        extra = decode(text) if len(text) <= MAX_EXTRA_BYTES else None
    except (TypeError, ValueError, RecursionError):
        extra = None
    if isinstance(extra, dict):
        return extra
    name = type(error).__name__
    logger.error("the extra of a %s is left out: it is no JSON object of at most %d bytes", name, MAX_EXTRA_BYTES)
    return {}
