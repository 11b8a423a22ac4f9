"""Records that connect a running function with its plugin and its host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pegboard.context.host_calls import Dispatch
    from pegboard.plugin.base import Catalogue, Lifespan
    from pegboard.types.catalogue import Change


class PluginData(NamedTuple):
    """The data that the functions of one plugin share.

    Attributes:
        config: the plugin's validated settings, or None.
        state: the value that the plugin's lifespan yielded, or None.
        user: the operator's user id, for calls without an authenticated user.
        catalogue: the catalogue in which the plugin changes its tools, resources and prompts.
    """

    config: Any
    state: Any
    user: str | None
    catalogue: Catalogue


class HostAccess(NamedTuple):
    """The parts of the host that a context uses.

    Attributes:
        dispatch: handles a call like a call of a client.
        emit: sends a change notification.
        in_thread: runs a sync function without arguments in a thread of the host, with a name for the log.
        entered: the lifespans that the host leaves in reverse order when it stops, each with its name for the log.
        values: the values of dependencies that live as long as the host, by function.
        overrides: the functions that a test puts in the place of the functions of dependencies.
        use_key: uses a key for a number of seconds. Returns False if it was used before.
    """

    dispatch: Dispatch
    emit: Callable[[Change], None]
    in_thread: Callable[..., Awaitable[Any]]
    entered: list[tuple[str, Lifespan]]
    values: dict[Callable[..., Any], Any]
    overrides: dict[Callable[..., Any], Callable[..., Any]]
    use_key: Callable[[str, float], Awaitable[bool]]
