"""What is refused before anything runs, as HTTP and JSON-RPC have it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from pegboard import MCPError
from pegboard.plugin import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    BearerScheme,
    InsufficientScopeError,
    ProtocolError,
    RefusalLog,
    jsonrpc_error,
)
from pegboard.types import Call, Failure, Outcome, Request, RequestId, Response
from pegboard_plugins.mcp.headers import PROTOCOL_VERSION_HEADER, named_revision
from pegboard_plugins.mcp.revisions import SESSION_REVISIONS, STATELESS_REVISIONS, SUPPORTED_REVISIONS

SESSION_DELETED: Final = "The session was deleted."

_AUDIT = RefusalLog()


def error_response(status: int, request_id: RequestId | None, code: int, message: str, data: Any = None) -> Response:
    """An error with a status of its own."""
    return Response(status, jsonrpc_error(code, message, request_id, data))


def protocol_error_response(error: MCPError, request_id: RequestId | None) -> Response:
    """What is refused before anything runs: 404 for a method that is not there, 400 for all else."""
    code, data = (error.code, error.data) if isinstance(error, ProtocolError) else (INTERNAL_ERROR, None)
    return error_response(404 if code == METHOD_NOT_FOUND else 400, request_id, code, error.message, data)


def response_head(call: Call, outcome: Outcome) -> Response:
    """What the response to a call goes out with: 403 and a challenge where the caller's token does not allow it."""
    if not (isinstance(outcome, Failure) and isinstance(outcome.error, InsufficientScopeError)):
        return Response()
    if call.caller.trusted or not call.caller.is_known:
        return Response()  # there is no token that a better one could take the place of
    of = call.params.get("name") or call.params.get("uri")
    facts = {"method": call.method, "of": of, "needs": " ".join(outcome.error.scopes)}
    _AUDIT.refused("a call for lack of scopes", call.caller, facts, logging.INFO)
    refused = BearerScheme().insufficient(_to_ask_for(call, outcome.error), outcome.error.message)
    return Response(403, headers=refused.headers)


def _to_ask_for(call: Call, error: InsufficientScopeError) -> Sequence[str]:
    """The scopes of a challenge: what is needed; for clients that ask for nothing else then, what they have as well.

    Since 2026-07-28 clients add what they had by themselves (basic/authorization, step-up authorization flow).
    """
    return error.scopes if call.client.revision in STATELESS_REVISIONS else sorted({*error.scopes, *call.caller.scopes})


def unsupported_revision(revision: str, request_id: RequestId | None = None, code: int = INVALID_REQUEST) -> Response:
    """Refuse a request whose header names a revision that is not served."""
    data = {"supported": list(SUPPORTED_REVISIONS), "requested": revision}
    message = f"{PROTOCOL_VERSION_HEADER} names no revision served here; use one of {', '.join(SUPPORTED_REVISIONS)}."
    return error_response(400, request_id, code, message, data)


def reject_outside_sessions(request: Request) -> Response | None:
    """Why a GET or DELETE is not for a session; None when it may be. HEAD would open a stream that is not read."""
    if request.method == "HEAD":
        return Response(405, headers={"Allow": "DELETE, GET, POST"})
    revision = named_revision(request.headers)
    if revision in STATELESS_REVISIONS:
        return Response(405, headers={"Allow": "POST"})
    return None if revision is None or revision in SESSION_REVISIONS else unsupported_revision(revision)
