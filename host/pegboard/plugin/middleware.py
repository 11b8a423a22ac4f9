"""The contract of middleware: a base class, and plain functions."""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import TypeAlias

from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.catalogue import Inventory

MiddlewareFunction: TypeAlias = Callable[[Call, CallNext], Awaitable[Outcome]]
"""Run around a call: pass it to `call_next` or respond without it, and return an outcome."""


class Middleware:
    """The base class of middleware. Methods that are not overridden cost nothing.

    Each method is `async def on_x(self, call, call_next) -> Outcome` and runs in the task of the call, several at once.
    It may pass on a changed call (`call._replace(...)`), return an outcome without `call_next`, or change the outcome.
    `call_next` raises the typed errors of the inner code (`MCPError`), and may be called again after an error.
    `on_message` runs outermost, then `on_request` or `on_notification`, then the method's own. Calls that tools make of
    other tools pass through middleware too;
    `call.path` lists those tools.

    The host masks the response and logs the plugin if a method returns no outcome, returns an outcome that does not
    match the tool's output schema, calls `call_next` again after a success, responds to a cancelled call, or raises an
    exception that is not an `MCPError`.

    Attributes:
        name: the name in order lists; the plugin's name when None.
        outermost: True to run outside all other middleware, whatever order lists say, for complete records. Do not use
            it for checks.
    """

    name: str | None = None
    outermost: bool = False

    def wants(self, call: Call) -> bool:
        """Return True to run around this call; False skips it at almost no cost. Lists do not ask."""
        return True

    def view(self, call: Call) -> Hashable:
        """Return the properties of a caller that its lists depend on. Callers with equal values share a list.

        Without an override, a list depends on all properties of the caller.

        Args:
            call: the call that `on_list_tools` and its siblings receive.
        """
        return None

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Receive the inventory when the host starts and after every change, before any call can use it.

        It runs in the thread that changes the catalogue, and must not block. If it raises, the host does not start, or
        the change is refused.

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
        """Run around every notification of a client. The outcome is ignored, and nothing waits for it.

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

        The call has only `caller`, and `supplied` if the request brings values. `call_next` returns a `Listing` of all
        tools. Return it with items left out, or replaced by others of the same names. The host cuts it into pages
        later. A tool that is left out can still be called; `Gate` prevents both.
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
