"""HTTP responses for errors that occur before a call runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from pegboard import InsufficientScopeError, MCPError
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Failure, Outcome, Request, Response
from pegboard_plugins.protocols.mcp.headers import PROTOCOL_VERSION_HEADER, named_revision
from pegboard_plugins.protocols.mcp.revisions import (
    SESSION_REVISIONS,
    STATELESS_REVISIONS,
    SUPPORTED_REVISIONS,
)
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RequestId, jsonrpc_error
from pegboard_plugins.support.refusal_log import RefusalLog

OK_HEAD: Final = Response()
RETRY: Final = {"Retry-After": "2"}
"""The header field that says when to repeat a request, if the store of sessions cannot be reached."""

_AUDIT = RefusalLog()


class StoreUnavailableError(ProtocolError):
    """The store of sessions cannot be reached now. The client may repeat the request."""

    def __init__(self) -> None:
        super().__init__(INTERNAL_ERROR, "The sessions of this server cannot be reached now: try again later.")


class Reaching(AbstractContextManager["Reaching"]):
    """Converts errors of the connection to a store or to other processes."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Replace an error of the connection by `StoreUnavailableError`."""
        if isinstance(error, ConnectionError):
            raise StoreUnavailableError from error


REACHING = Reaching()


class SessionDeletedError(ProtocolError):
    """The session has ended. The client may begin a new one."""

    def __init__(self) -> None:
        super().__init__(INVALID_REQUEST, "The session was deleted.")


def error_response(status: int, request_id: RequestId | None, code: int, message: str, data: Any = None) -> Response:
    """Return a JSON-RPC error with an HTTP status."""
    return Response(status, jsonrpc_error(code, message, request_id, data))


def busy_response(status: int, request_id: RequestId | None, message: str) -> Response:
    """Return the refusal of a request that may succeed in a minute."""
    return error_response(status, request_id, INTERNAL_ERROR, message)._replace(headers={"Retry-After": "60"})


def protocol_error_response(error: MCPError, request_id: RequestId | None) -> Response:
    """Return the response to a rejected request: 404 for an unknown method or a deleted session, 400 for other errors.

    If the sessions cannot be reached, it is 503 with the seconds after which to try again.
    """
    if isinstance(error, StoreUnavailableError):
        return error_response(503, request_id, error.code, error.message)._replace(headers=RETRY)
    code, data = (error.code, error.data) if isinstance(error, ProtocolError) else (INTERNAL_ERROR, None)
    status = 404 if code == METHOD_NOT_FOUND or isinstance(error, SessionDeletedError) else 400
    return error_response(status, request_id, code, error.message, data)


def response_head(call: Call, outcome: Outcome) -> Response:
    """Return the head of a call's response: 403 and a challenge if the caller's token lacks scopes."""
    error = outcome.error if isinstance(outcome, Failure) else None
    if isinstance(error, StoreUnavailableError):
        return Response(503, headers=RETRY)
    if not isinstance(error, InsufficientScopeError):
        return OK_HEAD
    if call.caller.trusted or not call.caller.is_known:
        return OK_HEAD  # there is no token to replace
    of = call.params.get("name") or call.params.get("uri")
    facts = {"method": call.method, "of": of, "needs": " ".join(error.scopes)}
    _AUDIT.refused("a call for lack of scopes", call.caller, facts, logging.INFO)
    refused = BearerScheme().insufficient(_challenge_scopes(call, error), error.message)
    return Response(403, headers=refused.headers)


def _challenge_scopes(call: Call, error: InsufficientScopeError) -> Sequence[str]:
    """Return the scopes of a challenge, with the caller's present scopes for clients before 2026-07-28.

    These clients request only the scopes of the challenge. Since 2026-07-28 clients add their scopes themselves
    (basic/authorization, step-up authorization flow).
    """
    return error.scopes if call.client.revision in STATELESS_REVISIONS else sorted({*error.scopes, *call.caller.scopes})


def unsupported_revision(
    revision: str, supported: Sequence[str], request_id: RequestId | None = None, code: int = INVALID_REQUEST
) -> Response:
    """Reject a request whose header names an unsupported revision."""
    data = {"supported": list(supported), "requested": revision}
    message = f"{PROTOCOL_VERSION_HEADER} names an unsupported revision; use one of {', '.join(supported)}."
    return error_response(400, request_id, code, message, data)


def sessions_off(request_id: RequestId | None = None) -> Response:
    """Reject a message of a session, because the server has none (2026-07-28, basic/versioning)."""
    message = (
        f'This server has no sessions ([plugins.mcp] sessions = "off"): use revision {STATELESS_REVISIONS[0]}, '
        "which needs none."
    )
    data = {"supported": list(STATELESS_REVISIONS)}
    return error_response(400, request_id, INVALID_REQUEST, message, data)


def reject_outside_sessions(request: Request) -> Response | None:
    """Return the rejection of a GET or DELETE that cannot belong to a session, or None for a valid request.

    HEAD is rejected because it would open a stream that no client reads.
    """
    if request.method == "HEAD":
        return Response(405, headers={"Allow": "DELETE, GET, POST"})
    revision = named_revision(request.headers)
    if revision in STATELESS_REVISIONS:
        return Response(405, headers={"Allow": "POST"})
    if revision is None or revision in SESSION_REVISIONS:
        return None
    return unsupported_revision(revision, SUPPORTED_REVISIONS)
