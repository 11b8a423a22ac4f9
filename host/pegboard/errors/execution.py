"""Errors that tools raise, with a message for the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pegboard.errors.definition import ErrorKind, ToolRuntimeError
from pegboard.errors.protocol import ResponseError, ServerRequestError, SessionError

_UPSTREAM_KINDS = {
    401: ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
    403: ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
    404: ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND,
    429: ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT,
    500: ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR,
}
"""The kinds of errors by the HTTP status of a service. 500 stands for all larger ones."""
_LOCAL = ("http://localhost", "http://127.0.0.1", "http://[::1]")


class ToolExecutionError(ToolRuntimeError):
    """The tool failed. Raise it, or a subclass, with a message that helps the model."""


class RetryableToolError(ToolExecutionError):
    """The model can correct its call and retry.

    Args:
        message: the problem.
        developer_message: details for the log.
        additional_prompt_content: instructions for the retry, sent with the message.
        retry_after_ms: the milliseconds to wait before the retry.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.TOOL_RUNTIME_RETRY
    can_retry = True

    def __init__(
        self,
        message: str = "",
        developer_message: str | None = None,
        additional_prompt_content: str | None = None,
        retry_after_ms: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.additional_prompt_content = additional_prompt_content
        self.retry_after_ms = retry_after_ms


class RepeatCallError(RetryableToolError):
    """The items of a call were not served yet. Middleware raises this error before or instead of running the call.

    The host then runs the call again, once, with all middleware and the current catalogue. If this error is raised
    again, the caller receives its cause, or the error itself.
    """


class ResultTooLargeError(RetryableToolError):
    """The result of a tool exceeds its size limit. The host raises this error. Middleware may send a part instead.

    Args:
        limit: the size limit in bytes.
        build: returns the result as a JSON-ready value or a `ToolResult`, or None if it exceeds a number of bytes. Most
            larger results are rejected before they are built. The function may block.
        is_structured: True if the tool promises a result that follows its output schema.
    """

    def __init__(self, limit: int, build: Callable[[int], Any], *, is_structured: bool) -> None:
        super().__init__(
            f"The result is too large: it has more than {limit:,} bytes.",
            additional_prompt_content="Ask for less: a narrower search, a smaller range, or one page at a time.",
        )
        self.limit = limit
        self.build: Callable[[int], Any] = build
        self.is_structured = is_structured

    def drop(self) -> None:
        """Release the result. The error may live longer than its call."""
        self.build = lambda _: None


class ContextRequiredToolError(ToolExecutionError):
    """The model must ask the user for information before a retry. `additional_prompt_content` names the information."""

    default_kind = ErrorKind.TOOL_RUNTIME_CONTEXT_REQUIRED

    def __init__(
        self,
        message: str,
        additional_prompt_content: str,
        developer_message: str | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.additional_prompt_content = additional_prompt_content


class AuthorizationRequiredError(ContextRequiredToolError):
    """The tool requires a token of a provider, and the user has none.

    Args:
        provider: the id of the provider, or the name under which the operator stores its tokens.
        scopes: the scopes that the token must have.
        url: the page on which the user authorizes: https, or http on this machine. None if there is no page.
        authorization_id: the id of the authorization request.
        status: "not_started"; "pending" if the provider waits for the user; "failed" if the authorization failed.
        title: the display name of the provider.
        hint: advice for the operator on setting the token, such as "the secret ACME_TOKEN is not set; ...".
        login_command: the arguments of the `pegboard` command that logs the operator in, if the page at `url` ends with
            the process of the host.
        developer_message: details for the log.

    Raises:
        ValueError: the URL is not safe to open.
    """

    provider: str = ""
    scopes: tuple[str, ...] = ()
    url: str | None = None
    authorization_id: str | None = None
    status: Literal["not_started", "pending", "failed"] = "not_started"
    hint: str = ""
    login_command: tuple[str, ...] = ()

    def __init__(
        self,
        provider: str,
        *,
        scopes: Sequence[str] = (),
        url: str | None = None,
        authorization_id: str | None = None,
        status: Literal["not_started", "pending", "failed"] | None = None,
        title: str | None = None,
        hint: str = "",
        login_command: Sequence[str] = (),
        developer_message: str | None = None,
    ) -> None:
        if url is not None and not _may_be_opened(url):
            raise ValueError("the URL must begin with https://, or with http:// and a name of this machine")
        self.provider = provider
        self.scopes = tuple(scopes)
        self.url = url
        self.authorization_id = authorization_id
        self.hint = hint or ""
        self.login_command = tuple(login_command)
        self.status = status or ("not_started" if url is None else "pending")
        message, advice = self._message(title or provider, hint)
        super().__init__(message, advice, developer_message)
        self.can_retry = self.status == "failed"

    def _message(self, whose: str, hint: str) -> tuple[str, str]:
        """Return the message, and the instructions for the model."""
        allowing = f" that allows {', '.join(self.scopes)}" if self.scopes else ""
        needed = f"Authorization required: this tool needs a token of {whose}{allowing}"
        if self.url is not None:
            return (
                f"{needed}. To allow it, open {self.url}",
                "Show the user this address as it is, and ask the user to open it. Call the tool again afterwards.",
            )
        if self.status == "failed":
            return (
                f"{needed}, and none could be obtained just now.",
                "Try again later. If that does not help, tell the user that the operator of this server has to.",
            )
        if hint:
            return (
                f"{needed}, and there is none: {hint}.",
                "Do not try again before that has changed. Tell the user; this server must be restarted.",
            )
        return (
            f"{needed}, and there is none for you.",
            "Do not try again before that has changed. Tell the user that the operator of this server provides it.",
        )


class FatalToolError(ToolExecutionError):
    """The tool failed, and the caller cannot do anything about it."""

    default_status = 500


class UpstreamError(ToolExecutionError):
    """A service that the tool uses responded with an error.

    Args:
        message: the problem, without URLs and response bodies of the service.
        developer_message: details for the log.
        status_code: the HTTP status of the service. It determines `kind` and `can_retry`.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.UPSTREAM_RUNTIME_UNMAPPED

    def __init__(
        self,
        message: str,
        developer_message: str | None = None,
        *,
        status_code: int,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = status_code
        kind = ErrorKind.UPSTREAM_RUNTIME_UNMAPPED if status_code < 400 else ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST
        self.kind = _UPSTREAM_KINDS.get(min(status_code, 500), kind)
        self.can_retry = status_code == 429 or status_code >= 500


class UpstreamRateLimitError(UpstreamError):
    """A service limits the rate of requests.

    Args:
        message: the problem.
        retry_after_ms: the milliseconds to wait.
        developer_message: details for the log.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT

    def __init__(
        self,
        message: str,
        retry_after_ms: int,
        developer_message: str | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, status_code=429, extra=extra)
        self.retry_after_ms = retry_after_ms


class NetworkTransportError(ToolExecutionError):
    """A service that the tool uses did not respond.

    Raises:
        ValueError: `kind` is not a NETWORK_TRANSPORT kind.
    """

    default_kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED

    def __init__(
        self,
        message: str,
        developer_message: str | None = None,
        *,
        kind: ErrorKind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        can_retry: bool = True,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not kind.startswith("NETWORK_TRANSPORT_"):
            raise ValueError(f"kind must be one of the NETWORK_TRANSPORT kinds, not {kind}")
        super().__init__(message, developer_message, extra=extra)
        self.kind = kind
        self.can_retry = can_retry


class ClientError(ToolExecutionError, ServerRequestError, ResponseError):
    """The client responded to a request of the tool with an error or an invalid result.

    Args:
        message: the message of the client.
        developer_message: details for the log.
        code: the JSON-RPC error code, if the client sent one.
        data: the data of the JSON-RPC error.
    """

    code: int | None = None
    data: Any = None

    def __init__(
        self, message: str, developer_message: str | None = None, *, code: int | None = None, data: Any = None
    ) -> None:
        super().__init__(message, developer_message)
        self.code = code
        self.data = data


class ClientTimeoutError(ClientError, TimeoutError):
    """The client did not respond to a request of the tool in time."""


class ClientCapabilityError(ClientError, SessionError):
    """The client does not declare the capability that a request of the tool requires.

    Args:
        capability: the capability, such as "sampling" or "elicitation.url".
    """

    capability: str = ""

    def __init__(self, capability: str) -> None:
        super().__init__(f"This needs a client with the capability {capability}, which yours does not declare.")
        self.capability = capability

    @property
    def required(self) -> dict[str, Any]:
        """The capability as a ClientCapabilities object, such as {"elicitation": {"url": {}}}."""
        required: dict[str, Any] = {}
        for part in reversed(self.capability.split(".")):
            required = {part: required}
        return required


class ToolTimeoutError(ToolExecutionError, TimeoutError):
    """The tool exceeded its time limit. The tool may have had effects before that. The host raises this error.

    Args:
        message: the message for the caller.
        developer_message: details for the log.
        additional_prompt_content: instructions for the model.
        can_retry: True if the same call may be repeated safely.
        extra: JSON-ready values for programs.
    """

    default_status = 504

    def __init__(
        self,
        message: str,
        developer_message: str | None = None,
        *,
        additional_prompt_content: str | None = None,
        can_retry: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.additional_prompt_content = additional_prompt_content
        self.can_retry = can_retry
        if can_retry:
            self.kind = ErrorKind.TOOL_RUNTIME_RETRY


class InteractionError(ToolExecutionError):
    """The tool cannot ask the client, for example because the tool is a sync function."""

    default_status = 500


def _may_be_opened(url: str) -> bool:
    """Return True if a URL is safe to open: encrypted or local, and without characters that hide its target."""
    secure = url.startswith("https://") or any(
        url == origin or url.startswith((f"{origin}/", f"{origin}:")) for origin in _LOCAL
    )
    return secure and url.isascii() and url.isprintable() and " " not in url
