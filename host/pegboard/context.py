"""What a tool sees of the call it serves."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextvars import ContextVar
from math import isfinite
from typing import TYPE_CHECKING, Any

from pegboard.contracts import Call, Caller, Client, Notify, RequestId
from pegboard.errors import ToolDefinitionError

if TYPE_CHECKING:
    from pegboard.execute import BoundTool

_current: ContextVar[Context] = ContextVar("pegboard.context")


class _Sent:
    """What is already done; awaiting it gives the event loop a turn."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


_SENT = _Sent()


class Progress:
    """How far a call has come, told to the client if it asked for that."""

    __slots__ = ("_last", "_notify")

    def __init__(self, notify: Notify | None) -> None:
        self._notify = notify
        self._last: float | None = None

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> Any:
        """Tell the client, at once; may be awaited, need not be, and may be called from a sync tool's thread.

        Args:
            progress: how much is done, in any unit; a value that does not exceed the last one is not sent (MCP
                requires it to increase), nor is one that is no finite number.
            total: how much there is to do, in the same unit; left out when it is no finite number.
            message: what is being done, for people.
        """
        if self._notify is not None and _is_number(progress) and (self._last is None or progress > self._last):
            self._last = progress
            params: dict[str, Any] = {"progress": progress}
            if _is_number(total):
                params["total"] = total
            if message is not None:
                params["message"] = str(message)
            self._notify("notifications/progress", params)
        return _SENT

    def close(self) -> None:
        """Send nothing more: progress must stop when the call has ended (MCP, utilities/progress)."""
        self._notify = None


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


class Context:
    """One call of one tool.

    Attributes:
        tool: the tool's name on the wire.
        arguments: the arguments as the client sent them.
        config: the toolkit's validated settings, None when it takes none.
        state: what the toolkit's lifespan yielded, None without one.
        progress: tells the client how far the call has come.
        cancelled: True once nobody waits for the result any more; worth a look in long loops of a sync tool.
    """

    __slots__ = ("_call", "_secrets", "_user", "arguments", "cancelled", "config", "progress", "state", "tool")

    def __init__(self, call: Call, bound: BoundTool, arguments: Mapping[str, Any]) -> None:
        self._call = call
        self._secrets = bound.secrets
        self._user = bound.user
        self.tool = bound.tool.name
        self.arguments = arguments
        self.config = bound.config
        self.state = bound.state
        self.progress = Progress(call.notify)
        self.cancelled = False

    @property
    def request_id(self) -> RequestId | None:
        """The protocol's id of the request."""
        return self._call.request_id

    @property
    def session_id(self) -> str | None:
        """The session the request belongs to; None where there are none."""
        return self._call.session_id

    @property
    def client(self) -> Client:
        """The program that asks, as it describes itself."""
        return self._call.client

    @property
    def user_id(self) -> str | None:
        """The authenticated user, else the one that the operator configured, else None; never a session."""
        return self._call.caller.subject or self._user

    @property
    def caller(self) -> Caller:
        """Who is behind the call, as far as the transport can vouch for it."""
        return self._call.caller

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`."""
        return self._call.meta

    def get_secret(self, name: str) -> str:
        """A secret that the tool declared in `requires_secrets`.

        Raises:
            ToolDefinitionError: the tool did not declare it.
        """
        if name not in self._secrets:
            raise ToolDefinitionError(f"the tool {self.tool} does not declare the secret {name!r} in requires_secrets")
        secret = self._secrets[name]
        if secret is None:
            raise ToolDefinitionError(f"the secret {name!r} is not set")
        return secret


def current_context() -> Context | None:
    """The context of the tool that runs in this task or thread, None outside of one."""
    return _current.get(None)
