"""Options of FastMCP: the options that pegboard has elsewhere, and the conversion of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from pydantic.alias_generators import to_snake

from pegboard import Icon, ToolAnnotations
from pegboard_plugins.compat.fastmcp.types import plain

_ELSEWHERE = {
    "auth": "configure [plugins.resource_server] in hostconfig.toml",
    "auth_server_provider": "configure [plugins.resource_server] in hostconfig.toml",
    "token_verifier": "configure [plugins.resource_server] in hostconfig.toml",
    "allowed_hosts": "set them in [plugins.http] of a Host, and use host.asgi()",
    "allowed_origins": "set `cors_origins` in [plugins.http] of a Host, and use host.asgi()",
    "providers": "write a plugin with the hook register_tools",
    "transforms": "write a plugin with the hook register_tools",
    "extensions": "write a plugin with the hook register_methods",
}
"""Options of FastMCP that exist elsewhere in pegboard."""
_WITHOUT_EFFECT = frozenset(
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
_ITEM_OPTIONS_WITHOUT_EFFECT = frozenset(("run_in_thread", "security", "version", "enabled", "task"))
_ITEM_OPTIONS_ELSEWHERE = {
    "auth": "use the option `scopes` of pegboard's `@kit.tool`",
    "desc": "use `description`",
    "exclude_args": "give the parameter `Depends(function)` as its default",
    "serializer": "return the text, or content",
}
"""Options that pegboard calls differently, or does not have."""


class Elsewhere:
    """A method of FastMCP that pegboard does not have. Its AttributeError names what to use instead."""

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__}.{self._name} does not exist in pegboard: {self._advice}")


def check_options(options: Mapping[str, Any]) -> None:
    """Raise TypeError for an option of a server that does not exist, or that belongs to another place in pegboard."""
    for name, value in options.items():
        if name in _ELSEWHERE and value:
            raise TypeError(f"the option {name!r} does not exist in pegboard: {_ELSEWHERE[name]}")
        if name not in _ELSEWHERE and name not in _WITHOUT_EFFECT:
            raise TypeError(f"there is no option {name!r}")


def check_item_options(options: Mapping[str, Any]) -> None:
    """Raise TypeError for an option of a tool, resource or prompt that does not exist in pegboard."""
    for name, value in options.items():
        if name in _ITEM_OPTIONS_ELSEWHERE and value:
            raise TypeError(f"the option {name!r} does not exist here: {_ITEM_OPTIONS_ELSEWHERE[name]}")
        if name not in _ITEM_OPTIONS_ELSEWHERE and name not in _ITEM_OPTIONS_WITHOUT_EFFECT:
            raise TypeError(f"there is no option {name!r}")


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
