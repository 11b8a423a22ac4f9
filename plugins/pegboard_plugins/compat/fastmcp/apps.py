"""`AppConfig`, the interface of a tool or a resource (MCP Apps), as `fastmcp.apps` has it."""

from __future__ import annotations

from typing import Any

from pydantic.alias_generators import to_camel

from pegboard import ResourceUi, ToolUi
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.options import snake_case
from pegboard_plugins.compat.fastmcp.types import Object, plain

__getattr__ = missing_names(__name__)


class ResourceCSP(Object):
    """The origins that an interface may use."""

    connect_domains: list[str] | None = None
    resource_domains: list[str] | None = None
    frame_domains: list[str] | None = None
    base_uri_domains: list[str] | None = None


class ResourcePermissions(Object):
    """The devices that an interface may use, each an empty object."""

    camera: dict[str, Any] | None = None
    microphone: dict[str, Any] | None = None
    geolocation: dict[str, Any] | None = None
    clipboard_write: dict[str, Any] | None = None


class AppConfig(Object):
    """The interface of a tool (`resource_uri`, `visibility`), or the rules of a resource that is an interface."""

    resource_uri: str | None = None
    visibility: list[str] | None = None
    csp: ResourceCSP | None = None
    permissions: ResourcePermissions | None = None
    domain: str | None = None
    prefers_border: bool | None = None


def tool_ui(app: Any) -> ToolUi:
    """Return the interface of a tool as an option of pegboard.

    Raises:
        TypeError: the interface is a Prefab app.
    """
    if isinstance(app, bool):
        raise TypeError("pegboard has no Prefab apps: set app to an AppConfig with a resource_uri")
    members = snake_case(plain(app))
    return ToolUi(**{name: value for name, value in members.items() if name in ToolUi._fields})


def resource_ui(app: Any) -> ResourceUi:
    """Return the rules of an interface as an option of pegboard."""
    members = snake_case(plain(app))
    permissions: Any = [to_camel(name) for name in members.pop("permissions", None) or ()]
    members |= snake_case(members.pop("csp", None) or {})
    return ResourceUi(
        **{name: value for name, value in members.items() if name in ResourceUi._fields}, permissions=permissions
    )
