"""What was raised, made fit for strangers: typed errors as they are, all else masked and logged."""

from __future__ import annotations

import logging
import secrets

from pegboard.contracts import Call, Failure
from pegboard.errors import MCPError, ServerError, ToolkitError

logger = logging.getLogger("pegboard")


def as_failure(call: Call, error: BaseException) -> Failure:
    """What a call came to that raised. The host does this to every call; who runs one by itself does it to that one.

    What nobody raised on purpose is replaced, and its story logged under the id that the failure carries.
    """
    if isinstance(error, ToolkitError):
        if error.developer_message is None and error.__cause__ is None:
            return Failure(error)
        shown: MCPError = error
    elif isinstance(error, MCPError):
        return Failure(error)
    else:
        shown = ServerError("Internal error")
    error_id = secrets.token_hex(4)
    detail = getattr(error, "developer_message", None) or str(error)
    logger.error(
        "error %s in %s %r: %s",
        error_id,
        call.method,
        call.params.get("name", ""),
        detail,
        exc_info=error.__cause__ or error,
    )
    return Failure(shown, error_id)
