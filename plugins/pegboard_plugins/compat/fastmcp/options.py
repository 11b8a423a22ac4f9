"""Options of FastMCP: the options that pegboard has elsewhere, and the conversion of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_snake

from pegboard import Icon, ToolAnnotations
from pegboard_plugins.compat.fastmcp.types import plain

ELSEWHERE = {
    "auth": "configure [plugins.resource_server] in hostconfig.toml",
    "auth_server_provider": "configure [plugins.resource_server] in hostconfig.toml",
    "token_verifier": "configure [plugins.resource_server] in hostconfig.toml",
    "host_origin_protection": "set `allowed_hosts` in [plugins.http] of a Host, and use host.asgi()",
    "allowed_hosts": "set them in [plugins.http] of a Host, and use host.asgi()",
    "allowed_origins": "set `cors_origins` in [plugins.http] of a Host, and use host.asgi()",
    "providers": "write a plugin with the hook register_tools",
    "transforms": "write a plugin with the hook register_tools",
    "extensions": "write a plugin with the hook register_methods",
    "experimental_capabilities": "write a plugin with the hook register_methods",
}
"""Options of FastMCP that exist elsewhere in pegboard."""
WITHOUT_EFFECT = frozenset(
    (
        "cache_hints", "cache_scope", "cache_ttl", "client_log_level", "debug", "dependencies", "dereference_schemas",
        "event_store", "json_response", "list_page_size", "log_level", "mask_error_details", "max_request_body_size",
        "max_sessions", "message_path", "mount_path", "on_duplicate", "on_duplicate_prompts",
        "on_duplicate_resources", "on_duplicate_tools", "request_state_security", "resource_security",
        "retry_interval", "session_idle_timeout", "session_state_store", "sse_path", "stateless_http",
        "strict_input_validation", "subscriptions", "tasks", "transport_security", "warn_on_duplicate_prompts",
        "warn_on_duplicate_resources", "warn_on_duplicate_tools",
    )
)  # fmt: skip
"""Options of FastMCP that pegboard does not need, or has as settings in `hostconfig.toml`."""
ITEM_OPTIONS_WITHOUT_EFFECT = frozenset(("run_in_thread", "security", "version", "enabled", "task"))
ITEM_OPTIONS_ELSEWHERE = {
    "auth": "use the option `scopes` of pegboard's `@kit.tool`",
    "desc": "use `description`",
    "exclude_args": "give the parameter `Depends(function)` as its default",
    "serializer": "return the text, or content",
}
"""Options that pegboard calls differently, or does not have."""

VISIBILITY_ELSEWHERE = dict.fromkeys(
    ("components", "keys", "only", "version"), "use `names` or `tags`, or configure [plugins.mcp.profiles]"
)
"""Options of `enable` and `disable`."""


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function or callable object."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def tool_annotations(hints: Any) -> ToolAnnotations | None:
    """Return hints of FastMCP, an object or a dict, as hints of pegboard."""
    if hints is None or isinstance(hints, ToolAnnotations):
        return hints
    members = {name.removesuffix("_hint"): value for name, value in snake_case(plain(hints)).items()}
    return ToolAnnotations(**{name: value for name, value in members.items() if name in ToolAnnotations._fields})


def icons_of(icons: Sequence[Any] | None) -> tuple[Icon, ...]:
    """Return icons of FastMCP as icons of pegboard."""
    return tuple(icon if isinstance(icon, Icon) else Icon(**snake_case(plain(icon))) for icon in icons or ())


def snake_case(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members with names such as `mime_type`."""
    return {to_snake(name): value for name, value in members.items()}
