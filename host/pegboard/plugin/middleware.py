"""Code around calls: the base class that plugins override, and the record that a plain function becomes."""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import TypeAlias

from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.catalogue import Inventory

MiddlewareFunction: TypeAlias = Callable[[Call, CallNext], Awaitable[Outcome]]
"""Stands around a call: passes it on or answers by itself, and gives an outcome."""


class Middleware:
    """Base of code around calls: override the methods for what it is to stand around. What is not overridden is free.

    Each is `async def on_x(self, call, call_next) -> Outcome`. It may pass on another call (`call._replace(...)`),
    answer by itself, or change the outcome. `call_next` raises the typed errors of what it stands around (`MCPError`),
    and may be called again after a call that failed. Of one middleware `on_message` stands outermost, then `on_request`
    or `on_notification`, then the method's own. Calls that tools make of other tools pass it like any; `call.path`
    names those tools.

    Whoever forgets to give an outcome, gives one that does not fit the tool's output schema, calls `call_next` again
    after it went well, answers a cancelled call or raises what is no `MCPError` loses that call: the answer is masked,
    and the log names the middleware and its plugin.

    Attributes:
        name: what order lists call it; the plugin's name when None.
        outermost: True places it outside of all that is not, whatever order lists say, so that nothing is hidden from
            it. For records, not for checks.
    """

    name: str | None = None
    outermost: bool = False

    def wants(self, call: Call) -> bool:
        """Whether it stands around this call; False passes it by, which costs next to nothing. Lists always pass."""
        return True

    def view(self, call: Call) -> Hashable:
        """What of a caller its lists depend on: those for whom it is equal share what is made of a list.

        All that is known of a caller, where this is not overridden.

        Args:
            call: as `on_list_tools` and its kin are given it.
        """
        return None

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Told what there is: when the host starts and with every change, before any call can ask for it.

        It runs in whatever thread changes the catalogue, and must not block.

        Returns:
            What in the settings fits nothing that there is, such as a name that nothing has. The operator is warned of
            it when the host starts.
        """
        return ()

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        """Around every request and notification that the host runs."""
        return await call_next(call)

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Around every request, those of methods that plugins add included."""
        return await call_next(call)

    async def on_notification(self, call: Call, call_next: CallNext) -> Outcome:
        """Around every notification of a client; what it gives is of no account, and nothing waits for it.

        `notifications/initialized`, `cancelled`, `progress` and `roots/list_changed` are told of what the protocol has
        done about them; a notification of a plugin's may be changed, or kept from its handler.
        """
        return await call_next(call)

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Around `tools/call`."""
        return await call_next(call)

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Around `resources/read`."""
        return await call_next(call)

    async def on_get_prompt(self, call: Call, call_next: CallNext) -> Outcome:
        """Around `prompts/get`."""
        return await call_next(call)

    async def on_complete(self, call: Call, call_next: CallNext) -> Outcome:
        """Around `completion/complete`."""
        return await call_next(call)

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Around making the list of tools for one caller: once, and again when what is listed changes, not per request.

        `call.caller` is all there is to go by, and whether there is `call.supplied`. `call_next` gives a `Listing` of
        everything, which is cut into pages later; it is given back with items left out, or with others of the same
        names in their place. What is not listed can still be called; `Gate` sees to both.
        """
        return await call_next(call)

    async def on_list_resources(self, call: Call, call_next: CallNext) -> Outcome:
        """Around making the list of resources; see `on_list_tools`."""
        return await call_next(call)

    async def on_list_resource_templates(self, call: Call, call_next: CallNext) -> Outcome:
        """Around making the list of resource templates; see `on_list_tools`."""
        return await call_next(call)

    async def on_list_prompts(self, call: Call, call_next: CallNext) -> Outcome:
        """Around making the list of prompts; see `on_list_tools`."""
        return await call_next(call)
