"""The contract for middleware: a base class, and plain functions."""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import TypeAlias

from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.catalogue import Inventory

MiddlewareFunction: TypeAlias = Callable[[Call, CallNext], Awaitable[Outcome]]
"""Run around a call and return its outcome. Pass the call to `call_next`, or respond without `call_next`."""


class Middleware:
    """The base class of middleware. Only overridden methods are called.

    A method runs in the task of the call. Calls may run concurrently. A method may pass on a changed call
    (`call._replace(...)`), return an outcome without `call_next`, or return a changed copy of the outcome, which may be
    in a cache. `call_next` raises the typed errors of the inner code (`MCPError`), and may be called again after an
    error. The host masks the response and logs the plugin if a method breaks a [rule](middleware.md#rules).

    Attributes:
        name: the name in order lists. If None, the plugin's name.
        outermost: True to run outside all other middleware, regardless of order lists, so that records are complete. Do
            not use it for checks.
        innermost: True to run inside all other middleware, regardless of order lists, so that all checks run first.
    """

    name: str | None = None
    outermost: bool = False
    innermost: bool = False

    def wants(self, call: Call) -> bool:
        """Return True to check this call and run around it, False to skip it. The hooks of lists do not call this."""
        return True

    def check(self, call: Call) -> None:
        """Check a request before the methods of this middleware run around it. Raise an `MCPError` to refuse it.

        The method must not block. It takes much less time per call than a method that runs around the call.
        """

    def view(self, call: Call) -> Hashable:
        """Return the properties of a caller on which its lists depend. Callers with equal values share a list.

        Without an override, a list depends on all properties of the caller.

        Args:
            call: the call, as in `on_list_tools`.
        """
        return None

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Receive the inventory when the host starts and after every change, before calls can use the changed items.

        The method runs in the thread that changes the catalogue, and must not block. An exception prevents the start of
        the host or rejects the change.

        Returns:
            Problems with the settings, such as an unknown name. The host logs them as warnings when it starts.
        """
        return ()

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around every request and notification."""
        return await call_next(call)

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around every request, including methods of plugins."""
        return await call_next(call)

    async def on_notification(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around every notification of a client. The outcome is ignored.

        The protocol has already processed `notifications/initialized`, `cancelled`, `progress` and
        `roots/list_changed`. A notification for a plugin's handler may be changed or dropped.
        """
        return await call_next(call)

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around `tools/call`."""
        return await call_next(call)

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around `resources/read`."""
        return await call_next(call)

    async def on_get_prompt(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around `prompts/get`."""
        return await call_next(call)

    async def on_complete(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around `completion/complete`."""
        return await call_next(call)

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around the creation of the list of tools for one caller: once per caller, and again after a change.

        Only `call.caller` and `call.supplied` are set. `call_next` returns a `Listing` of all tools. Return the listing
        with items removed, or replaced by items of the same names. The host divides the listing into pages later. A
        removed tool can still be called. `Gate` prevents listing and calling.
        """
        return await call_next(call)

    async def on_list_resources(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around the creation of the list of resources; see `on_list_tools`."""
        return await call_next(call)

    async def on_list_resource_templates(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around the creation of the list of resource templates; see `on_list_tools`."""
        return await call_next(call)

    async def on_list_prompts(self, call: Call, call_next: CallNext) -> Outcome:
        """Run around the creation of the list of prompts; see `on_list_tools`."""
        return await call_next(call)
