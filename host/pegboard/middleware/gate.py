"""What helps to write middleware: a plain function around methods, and a gate that hides things and refuses them."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.errors import MCPError, NotFoundError
from pegboard.plugin.middleware import Middleware
from pegboard.types.callers import Caller
from pegboard.types.calls import Call, CallNext, Listing, Outcome
from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool


class Gate(Middleware):
    """Hides tools, resources and prompts, and refuses them: what a caller may not use is not there for them.

    Override `allows`. Lists are made once for a caller, so that its answers for a caller must stay the same until what
    is listed changes.
    """

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        """Whether a caller may use something.

        Args:
            kind: "tools", "resources" or "prompts".
            name: a name on the wire; of a resource its URI, and a template's text where templates are listed.
            caller: who.
        """
        return True

    def asks(self, kind: ItemKind, name: str) -> frozenset[str]:
        """The scopes that something needs, for the operator to see; none for a gate that does not go by scopes."""
        return frozenset()

    def refusal(self, kind: ItemKind, name: str, call: Call) -> MCPError:
        """What is raised where a caller asks for what they may not use; unless overridden, that it is not there.

        Args:
            kind: as in `allows`.
            name: as in `allows`.
            call: what asks for it; of a subscription the method and the caller alone.
        """
        if kind != "resources":
            return NotFoundError(f"Unknown {kind[:-1]}: {name}")
        completed = call.method == "completion/complete"
        return NotFoundError(
            f"Unknown resource template: {name}" if completed else "Resource not found", data={"uri": name}
        )

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse what is hidden."""
        name = call.params.get("name")
        if isinstance(name, str) and not self.allows("tools", name, call.caller):
            raise self.refusal("tools", name, call)
        return await call_next(call)

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse what is hidden."""
        uri = call.params.get("uri")
        if isinstance(uri, str) and not self.allows("resources", uri, call.caller):
            raise self.refusal("resources", uri, call)
        return await call_next(call)

    async def on_get_prompt(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse what is hidden."""
        name = call.params.get("name")
        if isinstance(name, str) and not self.allows("prompts", name, call.caller):
            raise self.refusal("prompts", name, call)
        return await call_next(call)

    async def on_complete(self, call: Call, call_next: CallNext) -> Outcome:
        """Say nothing of what is hidden."""
        reference = call.params.get("ref")
        if isinstance(reference, dict):
            name, uri = reference.get("name"), reference.get("uri")
            of_prompt = reference.get("type") == "ref/prompt"
            if of_prompt and isinstance(name, str) and not self.allows("prompts", name, call.caller):
                raise self.refusal("prompts", name, call)
            if not of_prompt and isinstance(uri, str) and not self.allows("resources", uri, call.caller):
                raise self.refusal("resources", uri, call)
        return await call_next(call)

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Leave out what is hidden."""
        return self._left("tools", call, await call_next(call))

    async def on_list_resources(self, call: Call, call_next: CallNext) -> Outcome:
        """Leave out what is hidden."""
        return self._left("resources", call, await call_next(call))

    async def on_list_resource_templates(self, call: Call, call_next: CallNext) -> Outcome:
        """Leave out what is hidden."""
        return self._left("resources", call, await call_next(call))

    async def on_list_prompts(self, call: Call, call_next: CallNext) -> Outcome:
        """Leave out what is hidden."""
        return self._left("prompts", call, await call_next(call))

    def _left(self, kind: ItemKind, call: Call, listing: Outcome) -> Outcome:
        assert isinstance(listing, Listing)
        items = [item for item in listing.items if self.allows(kind, listed_name(item), call.caller)]
        return Listing(listing.kind, tuple(items))


def hides(gates: Iterable[Gate], name: str, caller: Caller) -> bool:
    """Whether a tool is hidden from a caller. A gate that fails hides it, and says so when the tool is called."""
    try:
        return not all(gate.allows("tools", name, caller) for gate in gates)
    except Exception:  # noqa: BLE001 - of a plugin's
        return True


def refused(gates: Iterable[Gate], uri: str, call: Call) -> MCPError | None:
    """Why a call may not hear of a resource, None where it may. A gate that fails hides it."""
    for gate in gates:
        try:
            if gate.wants(call) and not gate.allows("resources", uri, call.caller):
                return gate.refusal("resources", uri, call)
        except Exception:  # noqa: BLE001 - of a plugin's
            return Gate().refusal("resources", uri, call)
    return None


def listed_name(item: Tool | Resource | ResourceTemplate | Prompt) -> str:
    """What a list knows something by: its name, or its URI."""
    if isinstance(item, Resource):
        return item.uri
    return item.uri_template if isinstance(item, ResourceTemplate) else item.name
