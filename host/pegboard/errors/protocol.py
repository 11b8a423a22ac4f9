"""What goes wrong between a caller and the server, whatever is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class MCPError(Exception):
    """Root of everything pegboard raises on purpose; its message is fit for whoever called."""

    @property
    def message(self) -> str:
        """The text that the caller may see."""
        return str(self)


class MCPContextError(MCPError):
    """The caller asked for something that cannot be given."""


class NotFoundError(MCPContextError):
    """There is no such tool, resource or prompt.

    Args:
        message: what the caller is told.
        data: machine-readable detail, such as `{"uri": ...}`.
    """

    data: Mapping[str, Any] | None = None

    def __init__(self, message: str, *, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.data = data


class AuthorizationError(MCPContextError):
    """The caller may not do this."""


class InsufficientScopeError(AuthorizationError):
    """The caller's token does not allow this.

    Args:
        scopes: what it must allow.
    """

    scopes: tuple[str, ...] = ()

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(sorted(scopes))
        super().__init__(f"This needs a token that allows: {', '.join(self.scopes)}.")


class PromptError(MCPContextError):
    """A prompt cannot be given as asked: unknown or missing arguments."""


class ResourceError(MCPContextError):
    """A resource cannot be read as asked."""


class MCPRuntimeError(MCPError):
    """The server could not do its part."""


class ProtocolError(MCPRuntimeError):
    """A JSON-RPC error (JSON-RPC 2.0 section 5.1).

    Args:
        code: the JSON-RPC or MCP error code.
        message: one sentence.
        data: any JSON value with details, left out when None.
    """

    code: int = -32603  # internal error, for subclasses whose own constructor does not call this one
    data: Any = None

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


McpError = ProtocolError


class TransportError(MCPRuntimeError):
    """A transport cannot open or keep its channel.

    Args:
        message: the problem and its fix, for the operator.
        final: the transport has served and ended; the host does not start it again, and the command exits with 1.
    """

    final: bool = False

    def __init__(self, message: str = "", *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class ServerError(MCPRuntimeError):
    """The host itself cannot do what it was started for."""


class SessionError(ServerError):
    """The client's session does not allow this, for example because the client lacks a capability.

    The host raises the subclass `ClientCapabilityError`.
    """


class RequestError(ServerError):
    """A request failed."""


class ServerRequestError(RequestError):
    """A request of the server to the client failed. The host raises the subclass `ClientError`."""


class ResponseError(ServerError):
    """A response is missing or invalid. The host raises the subclass `ClientError`."""


class ConfigError(ServerError):
    """The configuration is wrong. All problems found are told at once, one a line.

    Args:
        problems: what is wrong, each with file, line and key where known (`ConfigProblem` or text).
    """

    problems: tuple[object, ...] = ()

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class PluginError(ServerError):
    """A plugin cannot be loaded, or it broke a rule of the hooks."""


class LifespanError(PluginError):
    """The lifespan of a plugin failed to start."""
