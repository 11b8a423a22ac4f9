"""Calls from a running function to its own host. Such calls pass the same checks as calls from clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pegboard.content.function_results import as_tool_result
from pegboard.context.input_requests import ListRoots, Root
from pegboard.errors import FatalToolError, ResourceError, ToolInputError
from pegboard.types.calls import (
    Call,
    Failure,
    Listing,
    Outcome,
    PromptResult,
    RawResult,
    ResourceContents,
    ResourceResult,
    ToolResult,
)
from pegboard.types.catalogue import Change, ItemKind, Prompt, Resource, Tool

if TYPE_CHECKING:
    from pegboard.context.interaction import Interaction

MAX_NESTED_CALLS = 10
"""The largest depth of nested calls."""

Dispatch = Callable[[Call], Awaitable[Outcome]]
Emit = Callable[[Change], None]


class HostCalls:
    """Sends calls to the host on behalf of the same caller.

    Args:
        asking: the running call and its connection to the client.
        dispatch: handles a call like a call of a client.
    """

    def __init__(self, asking: Interaction, dispatch: Dispatch) -> None:
        self._asking = asking
        self._dispatch = dispatch

    async def _outcome(self, method: str, params: Mapping[str, Any], name: str) -> Outcome:
        """Run a nested call and return its outcome. Errors become `Failure`s."""
        asking = self._asking
        call = asking.call
        if len(call.path) >= MAX_NESTED_CALLS:
            raise FatalToolError(
                "This tool makes too many nested calls.", f"calls are nested deeper than {MAX_NESTED_CALLS} levels"
            )
        path = asking.rounds.nested(call.path, name) if asking.rounds else (*call.path, name)
        supplied = call.supplied and call.supplied._replace(authorization=None)  # that token is for this tool alone
        nested = call._replace(
            method=method,
            params=params,
            round=None,
            rounds=asking.rounds,
            path=path,
            supplied=supplied,
            serves=None,  # what a tool calls is part of its code
        )
        return await self._dispatch(nested)

    async def _result(self, method: str, params: Mapping[str, Any], name: str) -> Any:
        """Run a nested call and return its result.

        Raises:
            MCPError: the nested call failed.
        """
        outcome = await self._outcome(method, params, name)
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    async def _all(self, method: str) -> Sequence[Any]:
        """Return the items of all pages of a list."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            page = cast(Listing, await self._result(method, {} if cursor is None else {"cursor": cursor}, method))
            items.extend(page.items)
            cursor = page.next_cursor
            if cursor is None:
                return items


class Tools(HostCalls):
    """The host's tools."""

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call another tool for the same caller, and return its value.

        Raises:
            MCPError: the call failed, for example ToolInputError or NotFoundError.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        try:
            outcome = await self._result("tools/call", params, name)
        except ToolInputError as error:
            start, colon, wrong = error.message.partition(":")
            if f"{start}{colon}" != "Invalid arguments:":
                raise
            # the arguments of the calling tool may be right
            raise ToolInputError(f"{start} of {name}:{wrong}", error.developer_message) from None
        if isinstance(outcome, RawResult):
            outcome = as_tool_result(outcome)
        return cast(ToolResult, outcome).value

    async def call_raw(self, name: str, arguments: Mapping[str, Any] | None = None) -> Outcome:
        """Call another tool, and return its outcome: a ToolResult or RawResult, or a Failure with the error."""
        return await self._outcome("tools/call", {"name": name, "arguments": dict(arguments or {})}, name)

    async def list(self) -> Sequence[Tool]:
        """Return the tools that this caller may use."""
        return await self._all("tools/list")


class Resources(HostCalls):
    """The host's resources, and the client's roots."""

    async def read(self, uri: str) -> ResourceResult:
        """Return the content of a resource.

        Raises:
            NotFoundError: no resource has the URI.
            MCPError: reading failed.
        """
        return cast(ResourceResult, await self._result("resources/read", {"uri": uri}, uri))

    async def get(self, uri: str) -> ResourceContents:
        """Return the first part of the content of a resource. `list` returns its description.

        Raises:
            NotFoundError: no resource has the URI.
            ResourceError: the resource has no content.
            MCPError: reading failed.
        """
        for part in (await self.read(uri)).contents:
            return part
        raise ResourceError(f"the resource {uri} has no content")

    async def list(self) -> Sequence[Resource]:
        """Return the resources that this caller may read."""
        return await self._all("resources/list")

    async def list_templates(self) -> Sequence[Any]:
        """Return the resource templates that this caller may use."""
        return await self._all("resources/templates/list")

    def list_roots(self, *, name: str | None = None) -> Awaitable[Sequence[Root]]:
        """Return the client's roots: the directories in which servers may work.

        Raises:
            ClientCapabilityError: the client does not declare roots.
            ClientError, InteractionError: as for `UI.elicit`.
        """
        return self._asking.ask(ListRoots(), name)


class Prompts(HostCalls):
    """The host's prompts."""

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Return the messages of a prompt.

        Raises:
            NotFoundError: no prompt has the name.
            MCPError: the prompt failed.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        return cast(PromptResult, await self._result("prompts/get", params, name))

    async def list(self) -> Sequence[Prompt]:
        """Return the prompts that this caller may use."""
        return await self._all("prompts/list")


class ListNotifications:
    """Notifications that a list has changed."""

    def __init__(self, emit: Emit, kind: ItemKind) -> None:
        self._emit = emit
        self._kind = kind

    def list_changed(self) -> None:
        """Notify clients, from any thread. The catalogue sends the notifications of its own changes."""
        self._emit(Change(self._kind))


class ResourceNotifications(ListNotifications):
    """Notifications about resources."""

    def updated(self, uri: str) -> None:
        """Notify subscribers that the content of a resource has changed. May be called in any thread."""
        self._emit(Change("resource", uri))


class Notifications:
    """Notifications to clients outside of any call."""

    def __init__(self, emit: Emit) -> None:
        self.tools = ListNotifications(emit, "tools")
        self.resources = ResourceNotifications(emit, "resources")
        self.prompts = ListNotifications(emit, "prompts")
