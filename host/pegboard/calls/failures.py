"""What was raised, made fit for strangers: typed errors as they are, all else masked and logged."""

from __future__ import annotations

import asyncio
import logging
import secrets
from types import TracebackType
from typing import TYPE_CHECKING

from pegboard.contracts import Call, Failure
from pegboard.errors import MCPError, ServerError, ToolkitError
from pegboard.redaction import redacted, redacted_error, remember

if TYPE_CHECKING:
    from pegboard.context.rounds import Rounds

logger = logging.getLogger("pegboard")


def is_cancelled(error: BaseException, rounds: Rounds | None) -> bool:
    """Whether the task that handles an exception ends with it; anybody can raise a `CancelledError` of their own.

    Args:
        error: what was raised.
        rounds: the call's questions, which end it in the same way; None where there are none.
    """
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return (task is not None and task.cancelling() > 0) or (rounds is not None and rounds.ended)


def as_failure(call: Call, error: BaseException) -> Failure:
    """What a call came to that raised. The host does this to every call; who runs one by itself does it to that one.

    What nobody raised on purpose is replaced, and its story logged under the id that the failure carries. Secrets are
    masked in all that is told.
    """
    story: BaseException | None = error.__cause__ or error
    remember(call.supplied)
    shown = redacted_error(error) if isinstance(error, MCPError) else ServerError("Internal error")
    if isinstance(error, ToolkitError):
        if error.developer_message is None and error.__cause__ is None:
            return Failure(shown)
        if story is error:
            story = _in_authors_code(error)
    elif isinstance(error, MCPError):
        return Failure(shown)
    error_id = secrets.token_hex(4)
    detail = redacted(getattr(error, "developer_message", None) or str(error))
    logger.error(
        "error %s in %s %r: %s",
        error_id,
        call.method,
        call.params.get("name", ""),
        detail,
        exc_info=story and (type(story), story, story.__traceback__),
    )
    return Failure(shown, error_id)


def _in_authors_code(error: BaseException) -> BaseException | None:
    """A typed error, which says what is wrong, with no more of its way than led through code that is not the host's."""
    places: list[TracebackType] = []
    at = error.__traceback__
    while at is not None:
        module = str(at.tb_frame.f_globals.get("__name__"))
        if module.startswith("pegboard.calls."):
            places.clear()  # middleware, which is not to blame
        elif not module.startswith("pegboard."):
            places.append(at)
        at = at.tb_next
    way: TracebackType | None = None
    for place in reversed(places):
        way = TracebackType(way, place.tb_frame, place.tb_lasti, place.tb_lineno)
    return error.with_traceback(way) if way else None
