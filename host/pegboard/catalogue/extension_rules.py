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


def contribution_name(contribution: Any) -> Any:
    """Return the name of a contribution."""
    return contribution.identifier if isinstance(contribution, Extension) else contribution.name


def contribution_complaint(contribution: Any) -> str | None:
    """Describe the mistake in an Extension, Method, NotificationHandler or Topic. Return None if it is valid."""
    if not isinstance(contribution_name(contribution), str):
        return "its name must be a string"
    if isinstance(contribution, Extension):
        complaint = _complaint_of_extension(contribution)
    elif isinstance(contribution, Topic):
        complaint = _complaint_of_topic(contribution)
    else:
        complaint = (
            _complaint_of_method(contribution)
            if isinstance(contribution, Method)
            else _complaint_of_handler(contribution)
        )
    if complaint is None and not isinstance(contribution, Topic):
        bounds = (contribution.since, contribution.until)
        if not all(isinstance(bound, str) and re.fullmatch(_REVISION, bound) for bound in bounds):
            complaint = f"{bounds} must be revisions of the protocol, such as 2026-07-28, or empty"
    return complaint


def _complaint_of_extension(extension: Any) -> str | None:
    if complaint := grammar_complaint(extension.identifier, prefixed=not extension.experimental):
        return complaint
    if not _is_json_object(extension.settings):
        return "its settings must be a JSON object"
    if isinstance(extension.result_types, str) or not all(
        isinstance(name, str) and name for name in extension.result_types
    ):
        return "its result_types must be a set of names"
    if core_types := CORE_RESULT_TYPES & set(extension.result_types):
        return f"the specification defines the result type {min(core_types)!r}"
    if extension.describe is not None and not callable(extension.describe):
        return "its `describe` must be a function"
    if extension.option is not None and extension.option not in OPTIONS:
        return f"there is no option {extension.option!r}; there are: {', '.join(sorted(OPTIONS))}"
    if not _is_text_mapping(extension.mime_types):
        return "its mime_types must map beginnings of URIs to MIME types"
    return None


def _is_text_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _complaint_of_topic(topic: Any) -> str | None:
    if topic.name in CORE_TOPICS:
        return "the specification defines this name"
    if not topic.name or not callable(topic.subscribe) or not isinstance(topic.extension, str):
        return "it needs a name, a function `subscribe` and the extension that it belongs to"
    return None


def _complaint_of_method(method: Any) -> str | None:
    if method.name in CORE_METHODS:
        return "the specification defines this name, and pegboard serves it"
    if method.name.startswith(("rpc.", "notifications/")):
        return "names that begin with 'rpc.' or 'notifications/' are reserved (JSON-RPC 2.0, MCP)"
    if not re.fullmatch(_METHOD, method.name):
        return "a method's name must be ASCII words separated by '/'"
    if not callable(method.handler):
        return "its handler must be a function"
    if method.name_parameter is not None and not isinstance(method.name_parameter, str):
        return "its name_parameter must be a string"
    return _complaint_of_capability(method)


def _complaint_of_capability(method: Any) -> str | None:
    path = method.capability
    if isinstance(path, str) or not all(isinstance(part, str) and part for part in path):
        return f"its capability {path!r} must be a tuple of names"
    if path and path[0] in CORE_CAPABILITIES:
        return f"the host advertises the capability {path[0]!r}; use another name, or an Extension"
    if path and path[0] == "tasks" and not "" < method.until <= _LAST_WITH_TASKS:
        return f"the capability 'tasks' ends with revision {_LAST_WITH_TASKS}; set `until`"
    return None


def _complaint_of_handler(notification: Any) -> str | None:
    if notification.name in CORE_NOTIFICATIONS:
        return "the specification defines this name, and pegboard processes it"
    if not notification.name.startswith("notifications/") or not re.fullmatch(_METHOD, notification.name):
        return "a notification's name must begin with 'notifications/'"
    return None if callable(notification.handler) else "its handler must be a function"


def _is_json_object(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    try:
        encode(dict(value))
    except TypeError:
        return False
    return is_finite(dict(value)) and all(isinstance(key, str) for key in value)
