"""What a function raised, as the typed error that its caller is meant to see; it raises and logs no story itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from pegboard.codec import decode, encode
from pegboard.contracts import ErrorAdapter
from pegboard.errors import (
    ErrorKind,
    FatalToolError,
    MCPContextError,
    ProtocolError,
    ToolExecutionError,
    ToolRuntimeError,
)

logger = logging.getLogger("pegboard")

Adapters: TypeAlias = Sequence[ErrorAdapter]
Meant: TypeAlias = ToolRuntimeError | ProtocolError

MOST_EXTRA_BYTES = 8 * 1024
"""How much JSON the `extra` of an error may hold; what is larger is left out."""
_MOST_IN_GROUP = 1000


def raise_meant(error: BaseException, adapters: Adapters) -> None:
    """Raise what the caller is meant to see of an exception.

    Call it where the exception is handled.

    Raises:
        ToolRuntimeError, ProtocolError: its author meant it so, or an adapter knows it. A group of such is the gravest
            of them; one with anything else in it is an accident.
        FatalToolError: an accident; masked, with the exception as its cause.
    """
    leaves = list(_leaves(error)) if isinstance(error, BaseExceptionGroup) else [error]
    found = [(leaf, _meant(leaf, adapters)) for leaf in leaves]
    known = [(leaf, meant) for leaf, meant in found if meant is not None]
    if len(known) < len(found) or not known:
        raise _unexpected(error) from error
    leaf, meant = min(known, key=lambda one: _urgency(one[1]))
    if len(known) > 1:
        raise meant from error  # the log tells of the others
    if meant is leaf:
        raise meant
    raise meant from leaf


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """What a group holds, however deep; not without end."""
    found: list[BaseException] = [group]
    for one in found:
        if isinstance(one, BaseExceptionGroup):
            found += one.exceptions[: _MOST_IN_GROUP - len(found)]
        else:
            yield one


def _urgency(error: Meant) -> tuple[bool, int]:
    """Of several errors the first of the least tells what to do: what no retry mends, then the longest wait."""
    if isinstance(error, ProtocolError):
        return (False, 0)
    return (error.can_retry, -(error.retry_after_ms or 0))


def _meant(error: BaseException, adapters: Adapters) -> Meant | None:
    return _on_purpose(error) or _adapted(error, adapters)


def _on_purpose(error: BaseException) -> Meant | None:
    """What the author meant the caller to see; None when it is an accident."""
    if isinstance(error, ProtocolError) or (isinstance(error, ToolRuntimeError) and _presentable(error)):
        return error
    return ToolExecutionError(error.message) if isinstance(error, MCPContextError) and _speaks(error) else None


def _adapted(error: BaseException, adapters: Adapters) -> ToolRuntimeError | None:
    """What the first adapter that knows an exception makes of it; None when none does."""
    if not isinstance(error, Exception):
        return None
    for adapter in adapters:
        try:
            adapted = adapter.from_exception(error)
        except (Exception, SystemExit):
            logger.exception("the error adapter %s failed on %s", adapter.slug, type(error).__name__)
            continue
        if isinstance(adapted, ToolRuntimeError) and _presentable(adapted):
            return adapted
        if adapted is not None:
            logger.error("the error adapter %s gave %s, not a sound error", adapter.slug, type(adapted).__name__)
    return None


def _speaks(thing: object) -> bool:
    """Whether something of an author's can say what it is."""
    try:
        return bool(str(thing) or True)
    except Exception:  # noqa: BLE001 - the author's own __str__
        return False


def _presentable(error: ToolRuntimeError) -> bool:
    """Whether an author's error holds what its fields promise, so that any protocol can send it."""
    given: list[tuple[object, Any]] = [
        (error.additional_prompt_content, str | None),
        (error.retry_after_ms, int | None),
        (error.status_code, int | None),
        (error.kind, ErrorKind),
        (error.can_retry, bool),
    ]
    if error.extra:
        error.extra = _json(error)
    detail: object = error.developer_message
    if not isinstance(detail, str | None):
        error.developer_message = str(detail) if _speaks(detail) else type(detail).__name__
    return _speaks(error) and all(isinstance(value, kind) for value, kind in given)


def _json(error: ToolRuntimeError) -> dict[str, Any]:
    """The `extra` of an error as JSON has it; nothing where JSON has no form for it, or it is too much."""
    try:
        text = encode(error.extra)
        extra = decode(text) if len(text) <= MOST_EXTRA_BYTES else None
    except (TypeError, ValueError, RecursionError):
        extra = None
    if isinstance(extra, dict):
        return extra
    logger.error(
        "the extra of a %s is left out: it is no JSON object of at most %d bytes",
        type(error).__name__,
        MOST_EXTRA_BYTES,
    )
    return {}


def _unexpected(error: BaseException) -> FatalToolError:
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - the author's own __str__
        text = type(error).__name__
    return FatalToolError("It failed unexpectedly.", text)
