"""MCP Apps (`io.modelcontextprotocol/ui`, 2026-01-26): tools whose results clients show in their own interface.

The plugin checks `ui=` and adds it to `_meta` for all clients. Clients without the extension ignore it, and lists stay
the same for every client. The communication between clients and interfaces is not part of the server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pegboard import ResourceContents, ResourceResult, ResourceUi, ToolDefinitionError, ToolUi
from pegboard.plugin import Extension, Middleware, Plugin, hookimpl
from pegboard.types import Call, CallNext, Inventory, Outcome, Resource, Tool

UI_EXTENSION = "io.modelcontextprotocol/ui"
UI_MIME_TYPE = "text/html;profile=mcp-app"
UI_SCHEME = "ui://"

PERMISSIONS = ("camera", "microphone", "geolocation", "clipboardWrite")
AUDIENCES = ("model", "app")

_ORIGIN = r"(?:https?|wss?)://(?:\*\.)?[A-Za-z0-9.-]+(?::\d{1,5})?"
_DOMAINS = {
    "connect_domains": "connectDomains",
    "resource_domains": "resourceDomains",
    "frame_domains": "frameDomains",
    "base_uri_domains": "baseUriDomains",
}


class AppsPlugin(Plugin):
    """The plugin. The host advertises the extension while a tool or resource uses it."""

    def __init__(self, config: None) -> None:
        super().__init__(config)
        self._described: dict[str, dict[str, Any]] = {}

    @hookimpl
    def register_methods(self) -> Iterable[Extension]:
        """Return the extension. It has no methods; `_meta` of tools and resources exists since 2025-06-18."""
        mime_types = {UI_SCHEME: UI_MIME_TYPE}
        return [Extension(UI_EXTENSION, describe=self.describe, since="2025-06-18", option="ui", mime_types=mime_types)]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return middleware for reads."""
        return [InterfaceReads(self._described)]

    def describe(self, item: Tool | Resource, value: Any, resources: Mapping[str, Resource]) -> dict[str, Any] | None:
        """Return the `_meta` of an item (see `ui_metadata`). Store the `_meta` of interfaces for reads."""
        entries = ui_metadata(item, value, resources)
        if entries is not None and isinstance(item, Resource):
            self._described[item.uri] = entries
        return entries


class InterfaceReads(Middleware):
    """Middleware for reads. Clients prefer the `_meta` in the contents to the `_meta` in the list.

    Args:
        described: the `_meta` entries of interfaces, by URI or URI template.
    """

    def __init__(self, described: Mapping[str, dict[str, Any]]) -> None:
        self._described = described
        self._answering: Callable[[str], Sequence[str]] = lambda uri: ()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Store which resource or template answers a URI."""
        self._answering = inventory.answering
        return ()

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Add the `_meta` of an interface to its contents."""
        outcome = await call_next(call)
        if not isinstance(outcome, ResourceResult) or not str(call.params.get("uri")).startswith(UI_SCHEME):
            return outcome
        return outcome._replace(contents=tuple(map(self._complete, outcome.contents)))

    def _complete(self, part: ResourceContents) -> ResourceContents:
        described = [self._described[key] for key in self._answering(part.uri) if key in self._described]
        if not described:
            return part
        if part.mime_type != UI_MIME_TYPE:
            raise ValueError(f"invalid MIME type {part.mime_type!r} of {part.uri}: use {UI_MIME_TYPE!r}")
        return part._replace(meta={**(part.meta or {}), **described[0]} or None)


def ui_metadata(item: Tool | Resource, value: Any, resources: Mapping[str, Resource]) -> dict[str, Any] | None:
    """Return the `_meta` of an interface, or of a tool that has an interface. Return None for other items.

    Raises:
        ToolDefinitionError: `ui=` breaks a rule of the extension.
    """
    if isinstance(item, Resource):
        if item.uri.startswith(UI_SCHEME):
            return _resource(item, ResourceUi() if value is None else value)
        if value is not None:
            raise ToolDefinitionError(f"ui= is for resources at {UI_SCHEME} only")
        return None
    return None if value is None else _tool(ToolUi(value) if isinstance(value, str) else value, resources)


def _tool(ui: Any, resources: Mapping[str, Resource]) -> dict[str, Any]:
    if not isinstance(ui, ToolUi):
        raise ToolDefinitionError(f"invalid ui {ui!r}: use a URI or a ToolUi")
    visibility = list(ui.visibility)
    if not visibility or not all(audience in AUDIENCES for audience in visibility):
        raise ToolDefinitionError(f"invalid `ui` visibility {visibility}: choose from {', '.join(AUDIENCES)}")
    meta: dict[str, Any] = {"visibility": visibility}
    if ui.resource_uri is not None:
        if not str(ui.resource_uri).startswith(UI_SCHEME) or ui.resource_uri not in resources:
            raise ToolDefinitionError(
                f"the interface {ui.resource_uri!r} does not exist: register a {UI_SCHEME} resource with this URI"
            )
        meta = {"resourceUri": ui.resource_uri, **meta}
    return {"ui": meta}


def _resource(resource: Resource, ui: Any) -> dict[str, Any]:
    if resource.mime_type != UI_MIME_TYPE:
        raise ToolDefinitionError(f"invalid MIME type {resource.mime_type!r} for an interface: use {UI_MIME_TYPE!r}")
    if not isinstance(ui, ResourceUi):
        raise ToolDefinitionError(f"invalid ui {ui!r}: use a ResourceUi")
    csp = {
        member: _check_origins(field, getattr(ui, field)) for field, member in _DOMAINS.items() if getattr(ui, field)
    }
    if unknown := [name for name in ui.permissions if name not in PERMISSIONS]:
        raise ToolDefinitionError(f"unknown `ui` permission {unknown[0]!r}: choose from {', '.join(PERMISSIONS)}")
    members = {
        "csp": csp or None,
        "permissions": {name: {} for name in ui.permissions} or None,
        "domain": _check_type(str, "domain", ui.domain),
        "prefersBorder": _check_type(bool, "prefers_border", ui.prefers_border),
    }
    present = {name: value for name, value in members.items() if value is not None}
    return {"ui": present} if present else {}


def _check_origins(field: str, origins: Sequence[str]) -> list[str]:
    if isinstance(origins, str):
        raise ToolDefinitionError(f"`ui` {field} must be a list of strings")
    for origin in map(str, origins):
        if not re.fullmatch(_ORIGIN, origin):
            raise ToolDefinitionError(
                f"invalid origin {origin!r} in `ui` {field}: use an origin such as https://example.com"
            )
    return list(origins)


def _check_type(kind: type, field: str, value: Any) -> Any:
    if value is not None and not isinstance(value, kind):
        raise ToolDefinitionError(f"`ui` {field} must be {kind.__name__}, not {value!r}")
    return value
