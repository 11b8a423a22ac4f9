"""Rules for single extensions, methods, notification handlers and topics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegboard.authoring import OPTIONS
from pegboard.plugin.methods import Extension, Method, Topic
from pegboard.wire.codec import encode, is_finite
from pegboard.wire.meta_keys import grammar_complaint

CORE_METHODS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
    }
)
"""The methods of all revisions, in both directions. Methods of tasks belong to an extension and are not included."""

CORE_NOTIFICATIONS = frozenset(
    {
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/roots/list_changed",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/elicitation/complete",
    }
)

CORE_TOPICS = frozenset({"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"})

CORE_CAPABILITIES = frozenset({"tools", "resources", "prompts", "completions", "logging", "extensions", "experimental"})
"""The capabilities that the host itself advertises, including the members for extensions."""

CORE_RESULT_TYPES = frozenset({"complete", "input_required"})

_METHOD = r"[A-Za-z0-9_$.-]+(?:/[A-Za-z0-9_$.-]+)*"
_REVISION = r"(?:\d{4}-\d{2}-\d{2})?"
_LAST_WITH_TASKS = "2025-11-25"


def contribution_name(one: Any) -> Any:
    """Return the name of a contribution."""
    return one.identifier if isinstance(one, Extension) else one.name


def contribution_complaint(one: Any) -> str | None:
    """Describe the mistake in an Extension, Method, NotificationHandler or Topic. Return None if it is valid."""
    if not isinstance(contribution_name(one), str):
        return "its name must be a string"
    if isinstance(one, Extension):
        complaint = _complaint_of_extension(one)
    elif isinstance(one, Topic):
        complaint = _complaint_of_topic(one)
    else:
        complaint = _complaint_of_method(one) if isinstance(one, Method) else _complaint_of_handler(one)
    if complaint is None and not isinstance(one, Topic):
        bounds = (one.since, one.until)
        if not all(isinstance(bound, str) and re.fullmatch(_REVISION, bound) for bound in bounds):
            complaint = f"{bounds} must be revisions of the protocol, such as 2026-07-28, or empty"
    return complaint


def _complaint_of_extension(one: Any) -> str | None:
    if complaint := grammar_complaint(one.identifier, prefixed=not one.experimental):
        return complaint
    if not _is_json_object(one.settings):
        return "its settings must be a JSON object"
    if isinstance(one.result_types, str) or not all(isinstance(name, str) and name for name in one.result_types):
        return "its result_types must be a set of names"
    if taken := CORE_RESULT_TYPES & set(one.result_types):
        return f"the specification defines the result type {min(taken)!r}"
    if one.describe is not None and not callable(one.describe):
        return "its `describe` must be a function"
    if one.option is not None and one.option not in OPTIONS:
        return f"there is no option {one.option!r}; there are: {', '.join(sorted(OPTIONS))}"
    if not _is_text_mapping(one.mime_types):
        return "its mime_types must map beginnings of URIs to MIME types"
    return None


def _is_text_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _complaint_of_topic(one: Any) -> str | None:
    if one.name in CORE_TOPICS:
        return "the specification defines this name"
    if not one.name or not callable(one.subscribe) or not isinstance(one.extension, str):
        return "it needs a name, a function `subscribe` and the extension that it belongs to"
    return None


def _complaint_of_method(one: Any) -> str | None:
    if one.name in CORE_METHODS:
        return "the specification defines this name, and pegboard serves it"
    if one.name.startswith(("rpc.", "notifications/")):
        return "names that begin with 'rpc.' or 'notifications/' are reserved (JSON-RPC 2.0, MCP)"
    if not re.fullmatch(_METHOD, one.name):
        return "a method's name must be ASCII words separated by '/'"
    if not callable(one.handler):
        return "its handler must be a function"
    if one.name_parameter is not None and not isinstance(one.name_parameter, str):
        return "its name_parameter must be a string"
    return _complaint_of_capability(one)


def _complaint_of_capability(one: Any) -> str | None:
    path = one.capability
    if isinstance(path, str) or not all(isinstance(part, str) and part for part in path):
        return f"its capability {path!r} must be a tuple of names"
    if path and path[0] in CORE_CAPABILITIES:
        return f"the host advertises the capability {path[0]!r}; use another name, or an Extension"
    if path and path[0] == "tasks" and not "" < one.until <= _LAST_WITH_TASKS:
        return f"the capability 'tasks' ends with revision {_LAST_WITH_TASKS}; set `until`"
    return None


def _complaint_of_handler(one: Any) -> str | None:
    if one.name in CORE_NOTIFICATIONS:
        return "the specification defines this name, and pegboard processes it"
    if not one.name.startswith("notifications/") or not re.fullmatch(_METHOD, one.name):
        return "a notification's name must begin with 'notifications/'"
    return None if callable(one.handler) else "its handler must be a function"


def _is_json_object(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    try:
        encode(dict(value))
    except TypeError:
        return False
    return is_finite(dict(value)) and all(isinstance(key, str) for key in value)
