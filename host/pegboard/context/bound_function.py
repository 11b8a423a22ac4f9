"""What is around a function that runs: its plugin's own things, and what it reaches of its host."""

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
    """What the functions of one plugin have in common.

    Attributes:
        config: the plugin's validated settings, None when it takes none.
        state: what its lifespan yielded, None without one.
        user: the user id where nobody is authenticated.
        catalogue: its own tools, resources and prompts, for changes; None without a host.
    """

    config: Any = None
    state: Any = None
    user: str | None = None
    catalogue: Catalogue | None = None


NO_PLUGIN = PluginData()
"""Of functions that no plugin brought."""


class BoundFunction(Protocol):
    """What one host knows about a function."""

    @property
    def name(self) -> str:
        """The tool's or prompt's name on the wire, or the resource's URI."""
        ...

    @property
    def owner(self) -> PluginData:
        """What it shares with the others of its plugin."""
        ...

    @property
    def timeout(self) -> float:
        """For how many seconds its functions may run; 0 for no limit."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether a call may be made again without doing anything twice."""
        ...

    @property
    def requirements(self) -> Requirements | None:
        """What it needs beside its arguments, None when that is nothing."""
        ...

    @property
    def adapters(self) -> tuple[ErrorAdapter, ...]:
        """Who knows what an exception means, in the order in which they are asked."""
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
    """What a context reaches of its host.

    Attributes:
        dispatch: the entry of every call.
        emit: tells of a change.
        in_thread: runs a sync function in a thread of the host.
    """

    dispatch: Dispatch
    emit: Callable[[Change], None]
    in_thread: Callable[[Callable[[], Any]], Awaitable[Any]]
