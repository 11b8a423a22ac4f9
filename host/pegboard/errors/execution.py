"""What goes wrong while a tool does its work: raise these, or subclasses of yours, with a message for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.errors.definition import ErrorKind, ToolRuntimeError


class ToolExecutionError(ToolRuntimeError):
    """The tool could not do what it was asked; raise it, or a subclass, with a message that helps the model."""


class RetryableToolError(ToolExecutionError):
    """The model can mend its call and try again.

    Args:
        message: what went wrong.
        developer_message: detail for the log.
        additional_prompt_content: what the model should know for the next try; sent with the message.
        retry_after_ms: how long to wait before the next try, in milliseconds.
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


class ContextRequiredToolError(ToolExecutionError):
    """The model must ask the person for something before it tries again; the text says what."""

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


class FatalToolError(ToolExecutionError):
    """Nothing the caller can do."""

    default_status = 500


class UpstreamError(ToolExecutionError):
    """A service that the tool uses answered with an error; its status decides the kind.

    Args:
        message: what went wrong, without URLs or bodies of the service.
        developer_message: detail for the log.
        status_code: the HTTP status of the service; `kind` and `can_retry` follow from it.
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
        self.kind = _upstream_kind(status_code)
        self.can_retry = status_code == 429 or status_code >= 500


class UpstreamRateLimitError(UpstreamError):
    """A service asks to wait.

    Args:
        message: what went wrong.
        retry_after_ms: how long to wait, in milliseconds.
        developer_message: detail for the log.
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
    """A service that the tool uses did not answer.

    Raises:
        ValueError: `kind` is none of the NETWORK_TRANSPORT kinds.
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


class ClientError(ToolExecutionError):
    """The client answered a question of the tool with an error, or with something that is no answer to it.

    Args:
        message: what it said.
        developer_message: detail for the log.
        code: the JSON-RPC error code, None where it sent none.
        data: the JSON-RPC error's data.
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
    """The client did not answer a question of the tool in time."""


class ClientCapabilityError(ClientError):
    """The client does not declare what a question of the tool needs.

    Args:
        capability: the name of it, such as "sampling" or "elicitation.url".
    """

    capability: str = ""

    def __init__(self, capability: str) -> None:
        super().__init__(f"This needs a client with the capability {capability}, which yours does not declare.")
        self.capability = capability

    @property
    def required(self) -> dict[str, Any]:
        """It as a ClientCapabilities object, such as `{"elicitation": {"url": {}}}`."""
        required: dict[str, Any] = {}
        for part in reversed(self.capability.split(".")):
            required = {part: required}
        return required


class ToolTimeoutError(ToolExecutionError, TimeoutError):
    """The tool took longer than it may. The host raises it; what the tool did until then may have happened.

    Args:
        message: what the caller is told.
        developer_message: detail for the log.
        additional_prompt_content: what the model should do about it.
        can_retry: whether the same call may be made again without doing anything twice.
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
    """The tool asks its client where or how it cannot: from a sync function, or otherwise than it did before."""

    default_status = 500


def _upstream_kind(status: int) -> ErrorKind:
    if status in (401, 403):
        return ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR
    if status == 404:
        return ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND
    if status == 429:
        return ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT
    if status >= 500:
        return ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR
    if status >= 400:
        return ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST
    return ErrorKind.UPSTREAM_RUNTIME_UNMAPPED
