"""Records that connect a running function with its plugin and its host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from pegboard.context.host_calls import Dispatch
    from pegboard.context.requirements import Requirements
    from pegboard.plugin.base import Catalogue
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.types.catalogue import Change


class PluginData(NamedTuple):
    """The data that the functions of one plugin share.

    Attributes:
        config: the plugin's validated settings, None without any.
        state: the value that its lifespan yielded, None without one.
        user: the operator's user id, for calls without an authenticated user.
        catalogue: its tools, resources and prompts, for changes; None without a host.
    """

    config: Any = None
    state: Any = None
    user: str | None = None
    catalogue: Catalogue | None = None


NO_PLUGIN = PluginData()
"""The data of functions without a plugin."""


class BoundFunction(Protocol):
    """A tool, resource or prompt as one host serves it."""

    @property
    def name(self) -> str:
        """The tool's or prompt's name on the wire, or the resource's URI."""
        ...

    @property
    def owner(self) -> PluginData:
        """The data of its plugin."""
        ...

    @property
    def timeout(self) -> float:
        """The seconds that each of its functions may run; 0 for no limit."""
        ...

    @property
    def repeatable(self) -> bool:
        """True if a second call changes nothing more."""
        ...

    @property
    def requirements(self) -> Requirements | None:
        """The requirements beside the arguments, None for nothing."""
        ...

    @property
    def adapters(self) -> tuple[ErrorAdapter, ...]:
        """The error adapters, in the order in which they are asked."""
        ...


class TimeLimit(Protocol):
    """The time limit of a running function."""

    def fail(self, error: BaseException) -> None:
        """End the function with an exception."""
        ...

    def pause(self) -> None:
        """Stop the clock."""
        ...

    def resume(self) -> None:
        """Start the clock again."""
        ...


class HostAccess(NamedTuple):
    """The parts of the host that a context uses.

    Attributes:
        dispatch: the entry of every call.
        emit: announces a change.
        in_thread: runs a sync function in a thread of the host.
    """

    dispatch: Dispatch
    emit: Callable[[Change], None]
    in_thread: Callable[[Callable[[], Any]], Awaitable[Any]]
