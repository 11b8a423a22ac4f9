"""Errors of mounted servers as errors of calls. Most of their JSON-RPC errors reach the caller unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import (
    AuthorizationRequiredError,
    ClientCapabilityError,
    Context,
    ErrorKind,
    MCPError,
    NetworkTransportError,
    NotFoundError,
    ToolExecutionError,
    UpstreamError,
)
from pegboard.errors import ToolkitError
from pegboard.plugin import ProtocolError, TransportError, encode
from pegboard_client import LoginRequiredError, ServerTimeoutError, UnreachableError
from pegboard_plugins.servers.upstreams.hops import LOOP
from pegboard_plugins.servers.upstreams.host_login import CALLERS_ADVICE, HostLogin
from pegboard_plugins.servers.upstreams.link import NotConnectedError
from pegboard_plugins.servers.upstreams.questions import QuestionRules, declares
from pegboard_plugins.support.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
)

MAX_ERROR_CHARACTERS = 2000
"""The maximum length of a server's error message that a caller receives."""
MAX_ERROR_DATA_BYTES = 64 * 1024
"""The maximum size of the data of a server's error that a caller receives. Larger data are left out."""

URL_ELICITATION_REQUIRED = -32042
"""The code of the error that asks the person to open pages (MCP 2025-11-25, client/elicitation)."""

_BETWEEN_SERVERS = frozenset((PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, -32020, -32022))
"""The codes of errors that concern only the connection between the host and the server."""


def request_error(
    rules: QuestionRules, context: Context[Any], method: str, params: Mapping[str, Any], error: ProtocolError
) -> Exception:
    """Return the error of a call that a server answered with a JSON-RPC error.

    Args:
        rules: the rules for questions of the server.
        context: the call.
        method: the method of the request.
        params: the parameters of the request.
        error: the error of the server.
    """
    is_loop = isinstance(error.data, dict) and LOOP in error.data
    is_optional = error.code == METHOD_NOT_FOUND and method == "completion/complete"
    if error.code in _BETWEEN_SERVERS and not is_loop and not is_optional:
        return _refused(rules.server, f"error {error.code}: {error.message[:MAX_ERROR_CHARACTERS]}")
    if error.code == MISSING_CLIENT_CAPABILITY and (missing := _capability(error.data)):
        reason = rules.refusal(missing) if declares(context, missing) else ""
        return _refused(rules.server, reason) if reason else ClientCapabilityError(missing)
    if error.code == RESOURCE_NOT_FOUND and method == "resources/read":
        return NotFoundError("Resource not found", data={"uri": params.get("uri")})
    data = None if len(encode(error.data)) > MAX_ERROR_DATA_BYTES else error.data
    if error.code == URL_ELICITATION_REQUIRED:
        try:
            data = _with_pages(rules, context, data)
        except ProtocolError as problem:
            return _refused(rules.server, problem.message)
    return ProtocolError(error.code, error.message[:MAX_ERROR_CHARACTERS], data)


def _refused(server: str, reason: str) -> UpstreamError:
    message = f"The server {server!r} refused the request."
    return UpstreamError(message, reason, status_code=400, extra={"upstream": server})


def _with_pages(rules: QuestionRules, context: Context[Any], data: Any) -> dict[str, Any]:
    """Return the data of an error that requires pages, with the pages for the client."""
    pages = data.get("elicitations") if isinstance(data, dict) else None
    if not isinstance(pages, list):
        raise ProtocolError(INVALID_PARAMS, "the server's request to open a page is invalid")
    return {"elicitations": [rules.page(context, page) for page in pages]}


def _capability(data: Any) -> str:
    """Return the first capability that a server requires, such as "elicitation.url", or "" if it names none."""
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    names: list[str] = []
    while isinstance(required, dict) and required:
        name = next(iter(required))
        names.append(str(name)[:MAX_ERROR_CHARACTERS])
        required = required[name]
    return ".".join(names[:2])


def error_members(error: MCPError) -> dict[str, Any]:
    """Return an error as a JSON object, for another process."""
    if isinstance(error, ToolkitError):
        return error.to_payload()
    code = error.code if isinstance(error, ProtocolError) else None
    data = error.data if isinstance(error, ProtocolError | NotFoundError) else None
    return {"message": error.message, "code": code, "data": data}


def error_of(members: Mapping[str, Any]) -> MCPError:
    """Return the error of another process."""
    if "kind" in members:
        error = ToolExecutionError(members["message"], members["developer_message"], extra=members["extra"])
        error.kind = ErrorKind(members["kind"])
        for name in ("can_retry", "additional_prompt_content", "retry_after_ms", "status_code"):
            setattr(error, name, members[name])
        return error
    if members["code"] is None:
        return NotFoundError(members["message"], data=members["data"])
    return ProtocolError(members["code"], members["message"], members["data"])


# --- Calls that a server does not answer. Each error names the server and says if the call may be repeated.


def not_connected(
    server: str, error: NotConnectedError, auth: str | None = None, login: HostLogin | None = None
) -> ToolExecutionError:
    """Return the error of a call that was not sent, because the server is not connected.

    Args:
        server: the name of the server.
        error: the failed attempt.
        auth: the provider of the caller's token; None if the connection sends none.
        login: the operator's login; None if the connection cannot use one.
    """
    if isinstance(error.cause, AuthorizationRequiredError):
        return _login_required(server, error.cause, auth, login)
    after = ""
    if error.seconds is not None:
        after = f" The next attempt to connect is in {error.seconds:.1f} s." if error.seconds else " It is connecting."
    extra: dict[str, Any] = {"upstream": server}
    if error.seconds is not None:
        extra["retry_after_ms"] = int(error.seconds * 1000)
    return NetworkTransportError(
        f"The server {server!r} is not available.{after}",
        error.reason,
        kind=ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        can_retry=error.seconds is not None,
        extra=extra,
    )


def _login_required(
    server: str, error: AuthorizationRequiredError, auth: str | None, login: HostLogin | None
) -> AuthorizationRequiredError:
    """Return the error of a call that the server accepts only after a login. It names the server, not its address."""
    if login is not None:
        return login.required(error)
    if auth is None:
        return AuthorizationRequiredError(
            server, scopes=error.scopes, hint=CALLERS_ADVICE, developer_message=str(error)
        )
    hint = f"the server refuses the token of {auth}; log in again, as the operator with `pegboard login {auth}`"
    login_error = AuthorizationRequiredError(server, scopes=error.scopes, hint=hint, developer_message=str(error))
    login_error.additional_prompt_content = "Do not try again before the user has logged in again. Tell the user."
    return login_error


def no_response(
    server: str,
    error: MCPError,
    *,
    repeatable: bool = False,
    auth: str | None = None,
    login: HostLogin | None = None,
) -> ToolExecutionError | None:
    """Return the error of a call that got no response, or None if the error is of another kind.

    Args:
        server: the name of the server.
        error: the error of the connection.
        repeatable: True if repeating the call has no further effect.
        auth, login: see `not_connected`.
    """
    if isinstance(error, LoginRequiredError):
        return _login_required(server, error, auth, login)
    if isinstance(error, UnreachableError):
        problem, kind, repeatable = "cannot be reached", ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True
    elif isinstance(error, ServerTimeoutError):
        problem, kind = "did not respond in time", ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
    elif isinstance(error, TransportError):
        problem, kind = "lost its connection before it responded", ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
    else:
        return None
    return NetworkTransportError(
        f"The server {server!r} {problem}." + ("" if repeatable else " The call may have had effects."),
        str(error),
        kind=kind,
        can_retry=repeatable,
        extra={"upstream": server},
    )
