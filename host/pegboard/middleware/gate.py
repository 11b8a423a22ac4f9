"""Gates: middleware that hides and refuses tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from pegboard.errors import MCPError, NotFoundError
from pegboard.plugin.middleware import Middleware
from pegboard.types.callers import Caller
from pegboard.types.calls import Call, CallNext, Listing, Outcome
from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool

ListKind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]


class Gate(Middleware):
    """Middleware that hides tools, resources and prompts from callers, and refuses their use.

    Override `allows`. Lists are cached by caller, so `allows` must return the same result for a caller until the
    catalogue changes.
    """

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        """Return True if a caller may use a tool, resource or prompt.

        Args:
            kind: "tools", "resources" or "prompts".
            name: the name of a tool or prompt on the wire, the URI of a resource, or a URI template.
            caller: the caller.
        """
        return True

    def asks(self, kind: ItemKind, name: str) -> frozenset[str]:
        """Return the scopes that a tool, resource or prompt requires, for the operator. The default is none."""
        return frozenset()

    def refusal(self, kind: ItemKind, name: str, call: Call) -> MCPError:
        """Return the error for a caller that is not allowed to use an item. By default, a `NotFoundError`.

        Args:
            kind: as in `allows`.
            name: as in `allows`.
            call: the call. The call of a subscription has only a method and a caller.
        """
        if kind != "resources":
            return NotFoundError(f"Unknown {kind[:-1]}: {name}")
        completed = call.method == "completion/complete"
        return NotFoundError(
            f"Unknown resource template: {name}" if completed else "Resource not found", data={"uri": name}
        )

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse a hidden item."""
        kind, name = named_item(call)
        if isinstance(name, str) and not self.allows(kind, name, call.caller):
            raise self.refusal(kind, name, call)
        return await call_next(call)

    on_read_resource = on_call_tool
    on_get_prompt = on_call_tool
    on_complete = on_call_tool

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Remove hidden items."""
        listing = await call_next(call)
        assert isinstance(listing, Listing)
        kind = item_kind(listing.kind)
        items = [item for item in listing.items if self.allows(kind, listed_name(item), call.caller)]
        return Listing(listing.kind, tuple(items))

    on_list_resources = on_list_tools
    on_list_resource_templates = on_list_tools
    on_list_prompts = on_list_tools


_NAMED: dict[str, tuple[ItemKind, str]] = {
    "tools/call": ("tools", "name"),
    "resources/read": ("resources", "uri"),
    "prompts/get": ("prompts", "name"),
}
"""The methods that use an item: its kind, and the parameter that names it. Completion has a reference."""


def named_item(call: Call) -> tuple[ItemKind, Any]:
    """Return the kind and the name, URI or URI template of the item that a call uses. The name may be invalid."""
    if (entry := _NAMED.get(call.method)) is not None:
        return entry[0], call.params.get(entry[1])
    reference = call.params.get("ref") if call.method == "completion/complete" else None
    if not isinstance(reference, dict):
        return "prompts", None
    if reference.get("type") == "ref/prompt":
        return "prompts", reference.get("name")
    return "resources", reference.get("uri")


def require_served(call: Call) -> None:
    """Refuse a call of an item that its client cannot use, as if the item did not exist (`Call.serves`).

    Raises:
        NotFoundError: the client cannot use the item.
    """
    kind, name = named_item(call)
    if call.serves is not None and isinstance(name, str) and not call.serves(kind, name):
        raise Gate().refusal(kind, name, call)


def hides(gates: Iterable[Gate], name: str, caller: Caller) -> bool:
    """Return True if a gate hides a tool from a caller, or fails. A call then returns the gate's error."""
    try:
        return not all(gate.allows("tools", name, caller) for gate in gates)
    except Exception:  # noqa: BLE001 - any exception of a plugin
        return True


def refused(gates: Iterable[Gate], uri: str, call: Call) -> MCPError | None:
    """Return the error for a resource that the client cannot use, or that a gate hides, else None.

    A gate that fails hides the resource.
    """
    if call.serves is not None and not call.serves("resources", uri):
        return Gate().refusal("resources", uri, call)
    for gate in gates:
        try:
            if gate.wants(call) and not gate.allows("resources", uri, call.caller):
                return gate.refusal("resources", uri, call)
        except Exception:  # noqa: BLE001 - any exception of a plugin
            return Gate().refusal("resources", uri, call)
    return None


def item_kind(kind: ListKind) -> ItemKind:
    """Return the kind of the items of a list. Templates are resources."""
    return "resources" if kind == "templates" else kind


def listed_name(item: Tool | Resource | ResourceTemplate | Prompt) -> str:
    """Return the name or URI that identifies an item of a list."""
    if isinstance(item, Resource):
        return item.uri
    return item.uri_template if isinstance(item, ResourceTemplate) else item.name
