"""Exceptions of functions, mapped to the typed errors that callers see."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pegboard.calls.failures import told_traceback
from pegboard.errors import (
    AuthorizationError,
    ErrorKind,
    FatalToolError,
    MCPContextError,
    NotFoundError,
    ProtocolError,
    ToolExecutionError,
    ToolRuntimeError,
)
from pegboard.messages.error_fields import describe_error, has_text, presentable
from pegboard.plugin.error_adapters import ErrorAdapter

logger = logging.getLogger("pegboard")

Adapters: TypeAlias = Sequence[ErrorAdapter]
Mapped: TypeAlias = ToolRuntimeError | ProtocolError

_MAX_GROUP_ERRORS = 1000


def mapped(error: BaseException, adapters: Adapters) -> Mapped:
    """Return the error that a caller sees for an exception. The exception is its cause.

    It is returned and not raised, because a frame of its traceback with the exception as a variable would keep the
    variables of the author's function until the next full garbage collection.

    Returns:
        The typed error that the author raised, or that an adapter returned for the exception. For a group of typed
        errors, the gravest error of the group. For an exception without a typed error, a `FatalToolError`, which masks
        its text.
    """
    leaves = list(_leaves(error)) if isinstance(error, BaseExceptionGroup) else [error]
    meanings = [(leaf, _on_purpose(leaf) or adapted_by_first(leaf, adapters)) for leaf in leaves]
    understood = [(leaf, meant) for leaf, meant in meanings if meant is not None]
    if len(understood) < len(meanings) or not understood:
        return _with_cause(FatalToolError("It failed unexpectedly.", describe_error(error)), error)
    leaf, meant = min(understood, key=lambda pair: _urgency(pair[1]))
    return _with_cause(meant, error if len(understood) > 1 else leaf)  # the log shows the other errors of a group


def _with_cause(meant: Mapped, cause: BaseException) -> Mapped:
    if meant is not cause:
        meant.__cause__ = cause
    return meant


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """Yield the exceptions in a group and its nested groups, up to a limit."""
    exceptions: list[BaseException] = [group]
    for exception in exceptions:
        if isinstance(exception, BaseExceptionGroup):
            exceptions += exception.exceptions[: _MAX_GROUP_ERRORS - len(exceptions)]
        else:
            yield exception


def _urgency(error: Mapped) -> tuple[bool, int]:
    """Return a sort key: errors that no retry resolves come first, then the longest wait."""
    if isinstance(error, ProtocolError):
        return (False, 0)
    return (error.can_retry, -(error.retry_after_ms or 0))


def _on_purpose(error: BaseException) -> Mapped | None:
    """Return `error` if it is a typed error that the author raised for the caller, else None."""
    if isinstance(error, ProtocolError) or (isinstance(error, ToolRuntimeError) and presentable(error)):
        return error
    return _callers_error(error) if isinstance(error, MCPContextError) and has_text(error) else None


def _callers_error(error: MCPContextError) -> ToolExecutionError:
    """Return the error of a tool whose caller is at fault. Its status is that of HTTP (RFC 9110 section 15.5)."""
    meant = ToolExecutionError(error.message)
    meant.kind = ErrorKind.TOOL_RUNTIME_BAD_INPUT_VALUE
    forbidden = 403 if isinstance(error, AuthorizationError) else 400
    meant.status_code = 404 if isinstance(error, NotFoundError) else forbidden
    return meant


def adapted_by_first(error: BaseException, adapters: Adapters) -> ToolRuntimeError | None:
    """Return the typed error of the first adapter that recognizes an exception, or None if no adapter does."""
    if not isinstance(error, Exception):
        return None
    for adapter in adapters:
        try:
            adapted = adapter.from_exception(error)
        except (Exception, SystemExit) as failed:
            text = "the error adapter %s failed on %s"
            logger.error(text, adapter.slug, type(error).__name__, exc_info=told_traceback(failed))
            continue
        if isinstance(adapted, ToolRuntimeError) and presentable(adapted):
            return adapted
        if adapted is not None:
            logger.error("the error adapter %s returned %s, not a valid error", adapter.slug, type(adapted).__name__)
    return None
