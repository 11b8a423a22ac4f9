"""Errors between a caller and the server, and errors of the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class MCPError(Exception):
    """The base class of all errors of pegboard. The caller may see the message."""

    @property
    def message(self) -> str:
        """The message for the caller."""
        return str(self)


class MCPContextError(MCPError):
    """The caller's request is at fault."""


class NotFoundError(MCPContextError):
    """The tool, resource or prompt does not exist.

    Args:
        message: the message for the caller.
        data: machine-readable detail, such as `{"uri": ...}`.
    """

    data: Mapping[str, Any] | None = None

    def __init__(self, message: str, *, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.data = data


class AuthorizationError(MCPContextError):
    """The caller is not allowed to do this."""


class InsufficientScopeError(AuthorizationError):
    """The caller's token lacks a scope.

    Args:
        scopes: the required scopes.
    """

    scopes: tuple[str, ...] = ()

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(sorted(scopes))
        super().__init__(f"This needs a token that allows: {', '.join(self.scopes)}.")


class PromptError(MCPContextError):
    """The arguments of a prompt are unknown or missing."""


class ResourceError(MCPContextError):
    """A resource cannot be read."""


class MCPRuntimeError(MCPError):
    """The server is at fault."""


class ProtocolError(MCPRuntimeError):
    """A JSON-RPC error (JSON-RPC 2.0 section 5.1).

    Args:
        code: the JSON-RPC or MCP error code.
        message: one sentence.
        data: details as a JSON value. The response omits None.
    """

    code: int = -32603  # internal error, for subclasses that do not call this constructor
    data: Any = None

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class TransportError(MCPRuntimeError):
    """A transport cannot open or keep its channel.

    Args:
        message: the problem and its fix, for the operator.
        final: True if the transport has ended. The host does not restart the transport, and the command exits with 1.
    """

    final: bool = False

    def __init__(self, message: str = "", *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class ServerError(MCPRuntimeError):
    """The host failed."""


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
    """The configuration is invalid. The message lists all problems, one per line.

    Args:
        problems: the problems with file, line and key if known (`ConfigProblem` or a string).
    """

    problems: tuple[object, ...] = ()

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class PluginError(ServerError):
    """A plugin cannot be loaded, or breaks a rule of the hooks."""


class LifespanError(PluginError):
    """The lifespan of a plugin failed to start."""
