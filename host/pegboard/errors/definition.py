"""Errors of toolkits and tools: definitions, arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from pegboard.errors.protocol import MCPError


class ErrorKind(StrEnum):
    """The kinds of errors, for programs. The values are part of the public API."""

    TOOLKIT_LOAD_FAILED = "TOOLKIT_LOAD_FAILED"
    TOOL_DEFINITION_BAD_DEFINITION = "TOOL_DEFINITION_BAD_DEFINITION"
    TOOL_DEFINITION_BAD_INPUT_SCHEMA = "TOOL_DEFINITION_BAD_INPUT_SCHEMA"
    TOOL_DEFINITION_BAD_OUTPUT_SCHEMA = "TOOL_DEFINITION_BAD_OUTPUT_SCHEMA"
    TOOL_RUNTIME_BAD_INPUT_VALUE = "TOOL_RUNTIME_BAD_INPUT_VALUE"
    TOOL_RUNTIME_BAD_OUTPUT_VALUE = "TOOL_RUNTIME_BAD_OUTPUT_VALUE"
    TOOL_RUNTIME_RETRY = "TOOL_RUNTIME_RETRY"
    TOOL_RUNTIME_CONTEXT_REQUIRED = "TOOL_RUNTIME_CONTEXT_REQUIRED"
    TOOL_RUNTIME_FATAL = "TOOL_RUNTIME_FATAL"
    UPSTREAM_RUNTIME_BAD_REQUEST = "UPSTREAM_RUNTIME_BAD_REQUEST"
    UPSTREAM_RUNTIME_AUTH_ERROR = "UPSTREAM_RUNTIME_AUTH_ERROR"
    UPSTREAM_RUNTIME_NOT_FOUND = "UPSTREAM_RUNTIME_NOT_FOUND"
    UPSTREAM_RUNTIME_RATE_LIMIT = "UPSTREAM_RUNTIME_RATE_LIMIT"
    UPSTREAM_RUNTIME_SERVER_ERROR = "UPSTREAM_RUNTIME_SERVER_ERROR"
    UPSTREAM_RUNTIME_UNMAPPED = "UPSTREAM_RUNTIME_UNMAPPED"
    NETWORK_TRANSPORT_RUNTIME_TIMEOUT = "NETWORK_TRANSPORT_RUNTIME_TIMEOUT"
    NETWORK_TRANSPORT_RUNTIME_UNREACHABLE = "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE"
    NETWORK_TRANSPORT_RUNTIME_UNMAPPED = "NETWORK_TRANSPORT_RUNTIME_UNMAPPED"
    UNKNOWN = "UNKNOWN"


class ToolkitError(MCPError):
    """A toolkit or a tool failed.

    Args:
        message: the message for the caller.
        developer_message: details for the log.
        extra: JSON-ready values for programs. Callers see them.

    Attributes:
        kind: the kind of error, for programs.
        can_retry: True if the same call may succeed later.
        status_code: the HTTP status that describes the error, if any.
        retry_after_ms: the milliseconds to wait before a retry, if known.
        additional_prompt_content: instructions for the model, sent with the message.
    """

    default_kind: ClassVar[ErrorKind] = ErrorKind.UNKNOWN
    default_status: ClassVar[int | None] = None

    # defaults for subclasses that do not call the constructor
    kind: ErrorKind = ErrorKind.UNKNOWN
    can_retry: bool = False
    status_code: int | None = None
    retry_after_ms: int | None = None
    additional_prompt_content: str | None = None
    developer_message: str | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.kind = cls.default_kind
        cls.status_code = cls.default_status

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.developer_message = developer_message
        self.extra = dict(extra) if extra else {}

    def to_payload(self, *, stacktrace: bool = False) -> dict[str, Any]:
        """Return the error as JSON-ready values for a log or a trusted caller, including `developer_message`.

        Args:
            stacktrace: True to include the stack trace of the cause.
        """
        return {
            "message": self.message,
            "kind": self.kind.value,
            "developer_message": self.developer_message,
            "can_retry": self.can_retry,
            "additional_prompt_content": self.additional_prompt_content,
            "retry_after_ms": self.retry_after_ms,
            "stacktrace": self._stacktrace() if stacktrace else None,
            "status_code": self.status_code,
            "extra": dict(self.extra) or None,
        }

    def _stacktrace(self) -> str | None:
        if self.__cause__ is None:
            return None
        from pegboard.errors.tracebacks import traceback_text

        return traceback_text(self.__cause__)


class ToolkitLoadError(ToolkitError):
    """A toolkit cannot be loaded."""

    default_kind = ErrorKind.TOOLKIT_LOAD_FAILED


class ToolError(ToolkitError):
    """A tool failed."""


class ToolDefinitionError(ToolError):
    """The definition of a tool is invalid. Only this tool is disabled."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_DEFINITION


class ToolInputSchemaError(ToolDefinitionError):
    """The parameters of a tool have no JSON Schema."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_INPUT_SCHEMA


class ToolOutputSchemaError(ToolDefinitionError):
    """The result of a tool has no JSON Schema."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_OUTPUT_SCHEMA


class ToolRuntimeError(ToolError, RuntimeError):
    """A tool failed while it ran. The model receives the message."""

    default_kind = ErrorKind.TOOL_RUNTIME_FATAL


class ToolSerializationError(ToolRuntimeError):
    """The arguments or the result of a tool cannot be converted."""


class ToolInputError(ToolSerializationError):
    """The arguments do not fit the input schema of the tool. The model can correct the arguments."""

    default_kind = ErrorKind.TOOL_RUNTIME_BAD_INPUT_VALUE
    default_status = 400


class ToolOutputError(ToolSerializationError):
    """The result does not fit the declared result type of the tool."""

    default_kind = ErrorKind.TOOL_RUNTIME_BAD_OUTPUT_VALUE
    default_status = 500


# --- Calls of authors' functions during the start of the host.

T = TypeVar("T")


def attempt(make: Callable[..., T], *arguments: Any) -> T:
    """Call an author's function and return its result.

    Raises:
        ToolDefinitionError: the function raised an exception other than KeyboardInterrupt.
    """
    try:
        return make(*arguments)
    except ToolDefinitionError:
        raise
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise ToolDefinitionError(f"{type(error).__name__}: {text}".rstrip(": ")) from error
