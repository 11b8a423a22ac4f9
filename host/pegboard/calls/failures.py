"""Failures of calls: typed errors go to the caller, all other exceptions are masked and logged."""

from __future__ import annotations

import asyncio
import logging
import secrets
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from pegboard.errors import (
    AuthorizationRequiredError,
    MCPContextError,
    MCPError,
    NetworkTransportError,
    RepeatCallError,
    ResultTooLargeError,
    ServerError,
    ToolkitError,
    ToolSerializationError,
    UpstreamError,
)
from pegboard.errors.tracebacks import linked_exceptions
from pegboard.messages.error_fields import describe_error, has_text, presentable
from pegboard.secrets.redaction import redacted, redacted_error, remember
from pegboard.types.calls import Call, CallNext, Failure, Outcome

if TYPE_CHECKING:
    from pegboard.context.rounds import Rounds

logger = logging.getLogger("pegboard")


MAX_ERROR_TEXT_CHARACTERS = 16_384
"""The number of characters of an error message that callers receive. The rest is cut off."""


def is_cancelled(error: BaseException, rounds: Rounds | None) -> bool:
    """Return True if an exception cancels the current task. A function may also raise `CancelledError` itself.

    Args:
        error: the exception.
        rounds: the questions of the call in rounds, or None. They also cancel the task to end a round.
    """
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return (task is not None and task.cancelling() > 0) or (rounds is not None and rounds.ended)


def as_failure(call: Call, error: BaseException) -> Failure:
    """Return the failure for an exception of a call. The host calls this function once for each failed call.

    An untyped exception is masked, and logged with the id that the failure contains. The failure of a service, and a
    mistake of the caller that a tool reports, are logged in one line. Secrets are masked in everything that is sent or
    logged.

    Args:
        call: the call.
        error: the exception.
    """
    story: BaseException | None = error.__cause__ or error
    remember(call)
    if isinstance(error, ResultTooLargeError):
        error.drop()
    shown: MCPError = ServerError("Internal error")
    if isinstance(error, ToolkitError) and presentable(error):
        shown = _shortened(redacted_error(error))
        if isinstance(error, UpstreamError | NetworkTransportError) and not isinstance(story, BaseExceptionGroup):
            _log_expected(call, error, "upstream")
            return Failure(shown)
        if isinstance(error.__cause__, MCPContextError):
            _log_expected(call, error, "by a mistake of the caller")
            return Failure(shown)
        if error.developer_message is None and error.__cause__ is None:
            return Failure(shown)
        if isinstance(error, AuthorizationRequiredError) and story is error:
            story = None
    elif isinstance(error, MCPError) and not isinstance(error, ToolkitError) and has_text(error):
        return Failure(_shortened(redacted_error(error)))
    error_id = secrets.token_hex(4)
    detail = redacted(getattr(error, "developer_message", None) or describe_error(error))
    name = name_of(call)
    facts = {"error_id": error_id, "method": call.method, "name": name}
    about = {"call": call, "data": {**facts, "kind": shown.kind.value if isinstance(shown, ToolkitError) else None}}
    exc_info = story and told_traceback(story, is_expected=story is error or isinstance(error, ToolSerializationError))
    logger.error("error %s in %s %r: %s", error_id, call.method, name, detail, exc_info=exc_info, extra=about)
    return Failure(shown, error_id)


def _log_expected(call: Call, error: ToolkitError, how: str) -> None:
    """Log a failure that is no defect of the tool in one line. The traceback is logged at the level debug."""
    story = error.__cause__ or error
    name = name_of(call)
    data = {"method": call.method, "name": name, "kind": error.kind.value, "status": error.status_code}
    detail_text = redacted(" ".join(part for part in (error.message, error.developer_message) if part))
    exc_info = told_traceback(story) if logger.isEnabledFor(logging.DEBUG) else None
    about = {"call": call, "data": data}
    text = "%s %r failed %s (%s): %s"
    logger.warning(text, call.method, name, how, error.kind.value, detail_text, exc_info=exc_info, extra=about)


def _shortened(error: MCPError) -> MCPError:
    """Shorten the strings of an error to `MAX_ERROR_TEXT_CHARACTERS` characters, and return the error."""
    error.args = tuple(_cut(argument) for argument in error.args)
    if isinstance(error, ToolkitError) and error.additional_prompt_content is not None:
        error.additional_prompt_content = _cut(error.additional_prompt_content)
    return error


def _cut(text: Any) -> Any:
    if not isinstance(text, str) or len(text) <= MAX_ERROR_TEXT_CHARACTERS:
        return text
    return f"{text[:MAX_ERROR_TEXT_CHARACTERS]} ... ({len(text) - MAX_ERROR_TEXT_CHARACTERS} more characters)"


async def run_again(handler: CallNext, call: Call) -> Outcome:
    """Run a call after a `RepeatCallError`, and return its outcome."""
    try:
        return await handler(call)
    except BaseException as error:
        if is_cancelled(error, call.rounds):
            raise
        if isinstance(error, RepeatCallError) and isinstance(error.__cause__, MCPError):
            error = error.__cause__
        return as_failure(call, error)


# --- The log of a failed call: the requested name, and the traceback through the code of authors.

MAX_LOGGED_NAME_CHARACTERS = 200
"""The number of characters of a requested tool name that are logged."""

MAX_TRIMMED_EXCEPTIONS = 40
"""The number of causes, contexts and members of groups whose tracebacks are trimmed."""

_OF_HOST = ("pegboard.", "pegboard_client.", "pegboard_plugins.compat.", "pegboard_testing.")
"""The beginnings of the names of modules whose frames are not part of an author's code."""

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]


def name_of(call: Call) -> str:
    """Return the name or URI that a call requests, shortened for the log. Return "" if there is none."""
    name = str(call.params.get("name") or call.params.get("uri") or "")
    return name if len(name) <= MAX_LOGGED_NAME_CHARACTERS else f"{name[:MAX_LOGGED_NAME_CHARACTERS]}..."


def told_traceback(error: BaseException, *, is_expected: bool = False) -> ExcInfo | None:
    """Return an exception for the log. Its tracebacks contain only frames of authors' code, unless the level is debug.

    Args:
        error: the exception. Its tracebacks are replaced.
        is_expected: True to return None for an exception without frames of authors, such as a refused result.
    """
    is_of_author = False
    if not logger.isEnabledFor(logging.DEBUG):
        for exception in islice(linked_exceptions(error), MAX_TRIMMED_EXCEPTIONS):
            if (way := _in_authors_code(exception.__traceback__)) is not None:
                exception.__traceback__ = way
                is_of_author = True
        if is_expected and not is_of_author:
            return None
    return type(error), error, error.__traceback__


def _in_authors_code(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of the host, or None if it has no others."""
    places: list[TracebackType] = []
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.startswith("pegboard.calls."):
            places.clear()  # frames of middleware are not part of the author's code
        elif not module.startswith(_OF_HOST):
            places.append(trace)
        trace = trace.tb_next
    way: TracebackType | None = None
    for place in reversed(places):
        way = TracebackType(way, place.tb_frame, place.tb_lasti, place.tb_lineno)
    return way
