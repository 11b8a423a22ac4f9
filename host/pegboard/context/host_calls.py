"""What a call can use of its own host: other tools, resources and prompts, through the same checks as any caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pegboard.context.input_requests import ListRoots, Root
from pegboard.errors import FatalToolError, InteractionError, NotFoundError
from pegboard.types.calls import Call, Failure, Listing, Outcome, PromptResult, ResourceResult, ToolResult
from pegboard.types.catalogue import Change, ItemKind, Prompt, Resource, Tool

if TYPE_CHECKING:
    from pegboard.context.interaction import Interaction

MAX_NESTED_CALLS = 10
"""How deep tools may call tools."""

Dispatch = Callable[[Call], Awaitable[Outcome]]
Emit = Callable[[Change], None]


class HostCalls:
    """Calls that a call makes of its own host, for the same caller.

    Args:
        asking: the call, and its way to the client.
        dispatch: the host's entry.
    """

    __slots__ = ("_asking", "_dispatch")

    def __init__(self, asking: Interaction, dispatch: Dispatch) -> None:
        self._asking = asking
        self._dispatch = dispatch

    async def outcome(self, method: str, params: Mapping[str, Any], name: str) -> Outcome:
        """What a nested call comes to; its errors as `Failure`."""
        asking = self._asking
        call = asking.call
        if len(call.path) >= MAX_NESTED_CALLS:
            raise FatalToolError("This tool calls too many others.", f"calls are nested deeper than {MAX_NESTED_CALLS}")
        path = asking.rounds.nested(call.path, name) if asking.rounds else (*call.path, name)
        supplied = call.supplied and call.supplied._replace(authorization=None)  # that token is for this tool alone
        nested = call._replace(
            method=method, params=params, round=None, rounds=asking.rounds, path=path, supplied=supplied
        )
        return await self._dispatch(nested)

    async def result(self, method: str, params: Mapping[str, Any], name: str) -> Any:
        """What a nested call gives.

        Raises:
            MCPError: what it failed with.
        """
        outcome = await self.outcome(method, params, name)
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    async def all(self, method: str) -> Sequence[Any]:
        """Every page of a list."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            page = cast(Listing, await self.result(method, {} if cursor is None else {"cursor": cursor}, method))
            items.extend(page.items)
            cursor = page.next_cursor
            if cursor is None:
                return items


class Tools:
    """The host's tools."""

    __slots__ = ("_inside",)

    def __init__(self, inside: HostCalls) -> None:
        self._inside = inside

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """What another tool gives for arguments, for the same caller, through the same checks and middleware.

        Raises:
            MCPError: what it failed with, such as ToolInputError or NotFoundError.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        return cast(ToolResult, await self._inside.result("tools/call", params, name)).value

    async def call_raw(self, name: str, arguments: Mapping[str, Any] | None = None) -> Outcome:
        """The same as an outcome: a ToolResult, or a Failure with the error."""
        return await self._inside.outcome("tools/call", {"name": name, "arguments": dict(arguments or {})}, name)

    async def list(self) -> Sequence[Tool]:
        """The tools that this caller may use."""
        return await self._inside.all("tools/list")


class Resources:
    """The host's resources, and the places of the client's."""

    __slots__ = ("_asking", "_inside")

    def __init__(self, inside: HostCalls, asking: Interaction) -> None:
        self._inside = inside
        self._asking = asking

    async def read(self, uri: str) -> ResourceResult:
        """What a resource holds.

        Raises:
            NotFoundError: there is none of that URI.
            MCPError: it could not be read.
        """
        return cast(ResourceResult, await self._inside.result("resources/read", {"uri": uri}, uri))

    async def get(self, uri: str) -> Resource:
        """A resource as it is listed.

        Raises:
            NotFoundError: none of that URI is listed for this caller.
        """
        for resource in await self.list():
            if resource.uri == uri:
                return resource
        raise NotFoundError("Resource not found", data={"uri": uri})

    async def list(self) -> Sequence[Resource]:
        """The resources that this caller may read."""
        return await self._inside.all("resources/list")

    async def list_templates(self) -> Sequence[Any]:
        """The resource templates that this caller may use."""
        return await self._inside.all("resources/templates/list")

    def list_roots(self, *, name: str | None = None) -> Awaitable[Sequence[Root]]:
        """Where the client lets servers work.

        Raises:
            ClientCapabilityError: the client does not say.
            ClientError, InteractionError: as for `UI.elicit`.
        """
        return self._asking.ask(ListRoots(), name)


class Prompts:
    """The host's prompts."""

    __slots__ = ("_inside",)

    def __init__(self, inside: HostCalls) -> None:
        self._inside = inside

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """The messages of a prompt.

        Raises:
            NotFoundError: there is none of that name.
            MCPError: it could not be made.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        return cast(PromptResult, await self._inside.result("prompts/get", params, name))

    async def list(self) -> Sequence[Prompt]:
        """The prompts that this caller may use."""
        return await self._inside.all("prompts/list")


class ListNotifications:
    """Tells clients that a list is no longer what it was."""

    __slots__ = ("_emit", "_kind")

    def __init__(self, emit: Emit, kind: ItemKind) -> None:
        self._emit = emit
        self._kind = kind

    def list_changed(self) -> None:
        """Tell those who listen; from any thread. What is added or removed through the host is told by itself."""
        self._emit(Change(self._kind))


class ResourceNotifications(ListNotifications):
    """Tells clients of resources."""

    __slots__ = ()

    def updated(self, uri: str) -> None:
        """Tell those who subscribed to a resource that its content is another; from any thread."""
        self._emit(Change("resource", uri))


class Notifications:
    """What clients are told outside of any call."""

    __slots__ = ("prompts", "resources", "tools")

    def __init__(self, emit: Emit) -> None:
        self.tools = ListNotifications(emit, "tools")
        self.resources = ResourceNotifications(emit, "resources")
        self.prompts = ListNotifications(emit, "prompts")


def no_host(call: Call) -> Awaitable[Outcome]:
    """The dispatch of a function that runs without a host."""
    raise InteractionError("This tool uses its host, and there is none.")
