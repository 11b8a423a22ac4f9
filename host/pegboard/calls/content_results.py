"""Conversion errors and size limits for results of resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from pegboard.calls.result_size import exceeds
from pegboard.errors import FatalToolError, MCPContextError, NotFoundError, ToolExecutionError

if TYPE_CHECKING:
    from pegboard.types.calls import PromptResult, RawResult, ResourceResult


async def awaited(running: Awaitable[Any], uri: str | None = None) -> Any:
    """Wait for a running function and return its value. Errors that its author raised for clients keep their type.

    Args:
        running: the running function.
        uri: the URI of the resource that is read; None for prompts and completions.

    Raises:
        ToolRuntimeError, MCPContextError: the function failed.
    """
    try:
        return await running
    except ToolExecutionError as error:
        meant = error.__cause__
        if isinstance(meant, NotFoundError) and uri is not None and not meant.data:
            raise NotFoundError(meant.message, data={"uri": uri}) from None
        if isinstance(meant, MCPContextError):
            raise meant from None
        raise


def unsendable(what: str, error: Exception) -> FatalToolError:
    """Return the error for a value that cannot be sent. The log names `what` as the source of the value."""
    return FatalToolError("It failed unexpectedly.", f"{what} returned a value that cannot be sent: {error}")


def check_result_size(name: str, limit: int, result: ResourceResult | PromptResult | RawResult, kind: str) -> None:
    """Check the size of a result.

    Args:
        name: the name of the resource or prompt, for the log.
        limit: the size limit in bytes; 0 for no limit.
        result: the result.
        kind: "resource" or "prompt".

    Raises:
        FatalToolError: the result exceeds the limit.
    """
    if exceeds(limit, getattr(result, "value", result), name):
        raise FatalToolError(f"The {kind} is too large: it has more than {limit:,} bytes.")
