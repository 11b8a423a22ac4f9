"""Checks and collection of the protocol additions of plugins.

An extension is served completely or not at all. Plugins cannot redefine names of the specification.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from pegboard.authoring import OPTIONS
from pegboard.errors import ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.hookspecs import register_methods
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.methods import Contributions, Extension, Method, NotificationHandler, Topic
from pegboard.plugin.origin import Origin
from pegboard.types.calls import Call, MethodResult
from pegboard.types.catalogue import Resource, Tool
from pegboard.wire.codec import encode, is_finite
from pegboard.wire.meta_keys import grammar_complaint, meta_complaint

T = TypeVar("T")
Contribution: TypeAlias = Extension | Method | NotificationHandler | Topic
_Report: TypeAlias = Callable[[Origin, str], None]
Owned: TypeAlias = tuple[Origin, Any]

_KINDS: Mapping[type[Any], str] = {
    Extension: "extension",
    Method: "method",
    NotificationHandler: "handler of",
    Topic: "topic",
}


class ContributionCollector:
    """Collects all additions, and reports those that are invalid with their owners."""

    def __init__(self, plugins: Sequence[LoadedPlugin], report: _Report) -> None:
        self.report = report
        self.broken: set[str] = set()
        self.claims: dict[type[Any], dict[str, list[Owned]]] = {kind: {} for kind in _KINDS}
        for plugin in plugins:
            for contribution in plugin.contributed(register_methods):
                if complaint := contribution_complaint(contribution):
                    self.refuse(plugin.origin, contribution, complaint)
                else:
                    self.claims[type(contribution)].setdefault(contribution_name(contribution), []).append(
                        (plugin.origin, contribution)
                    )

    def refuse(self, origin: Origin, contribution: Contribution, complaint: str) -> None:
        self.report(
            origin, f"{_KINDS[type(contribution)]} {contribution_name(contribution)!r}: {complaint}; it is not served"
        )
        self.broken.add(str(contribution.identifier if isinstance(contribution, Extension) else contribution.extension))

    def served(self) -> Contributions:
        """Return the additions that only one plugin defines and whose extension is served."""
        owned = {kind: dict(self.unclaimed_twice(kind)) for kind in _KINDS}
        extensions: dict[str, Extension] = {name: extension for name, (_, extension) in owned[Extension].items()}
        self.refuse_shared(owned[Extension])
        for origin, extension in owned[Extension].values():
            if extension.identifier in self.broken:
                del extensions[extension.identifier]
                self.report(
                    origin, f"extension {extension.identifier!r} is not served, because a part of it is invalid"
                )
        parts: Sequence[type[Any]] = (Method, NotificationHandler, Topic)
        rest = {kind: dict(self.with_extension(kind, owned[kind], extensions)) for kind in parts}
        return Contributions(extensions, rest[Method], rest[NotificationHandler], rest[Topic])

    def unclaimed_twice(self, kind: type[Any]) -> Iterator[tuple[str, Owned]]:
        for name, claims in sorted(self.claims[kind].items()):
            if len(claims) == 1:
                yield name, claims[0]
                continue
            owners = " and ".join(str(origin) for origin, _ in claims)
            self.report(claims[0][0], f"{_KINDS[kind]} {name!r} is claimed by {owners}; neither is served")
            self.broken |= {
                str(contribution.identifier if kind is Extension else contribution.extension)
                for _, contribution in claims
            }

    def refuse_shared(self, extensions: Mapping[str, Owned]) -> None:
        """Remove and report extensions that define the same result type, option or default MIME type."""
        owners: dict[str, Owned] = {}
        for origin, extension in extensions.values():
            for claim in _claims(extension):
                other_origin, other = owners.setdefault(claim, (origin, extension))
                if other is not extension:
                    self.report(origin, f"the {claim} is claimed by {other_origin} and {origin}; neither is served")
                    self.broken |= {extension.identifier, other.identifier}

    def with_extension(
        self, kind: type[Any], owned: Mapping[str, Owned], extensions: Mapping[str, Extension]
    ) -> Iterator[tuple[str, Any]]:
        for name, (origin, contribution) in owned.items():
            if contribution.extension is None or contribution.extension in extensions:
                yield name, contribution
            elif contribution.extension not in self.claims[Extension] and contribution.extension not in self.broken:
                self.report(
                    origin, f"{_KINDS[kind]} {name!r} belongs to {contribution.extension!r}, which no plugin provides"
                )


def _claims(extension: Extension) -> Iterator[str]:
    yield from (f"result type {name!r}" for name in extension.result_types)
    yield from (f"MIME type of {start}" for start in extension.mime_types)
    if extension.option is not None:
        yield f"option {extension.option!r}"


# --- results


def check_result(call: Call, result: MethodResult, contributed: Contributions) -> MethodResult:
    """Check that a result may be sent to the client, and return it.

    Raises:
        ProtocolError: -32021, the client does not declare the extension of the result type.
        ValueError: no enabled extension defines the result type, another tool made the call, or the result has reserved
            members.
    """
    method = contributed.methods.get(call.method)
    extension = method.extension if method is not None else None
    if result.result_type != "complete":
        definer = next(
            (
                candidate
                for candidate in contributed.extensions.values()
                if result.result_type in candidate.result_types
            ),
            None,
        )
        if definer is None:
            raise ValueError(f"no enabled extension defines the result type {result.result_type!r}")
        if call.path:
            kind = repr(result.result_type)
            raise ValueError(f"the result type {kind} can be sent only to clients, not to a calling tool")
        definer.require(call.client)
        extension = definer.identifier
    if "resultType" in result.value:
        raise ValueError("a result sets its type by MethodResult.result_type, not by a member resultType")
    if "_meta" in result.value and (complaint := meta_complaint(result.value["_meta"], extension)):
        raise ValueError(f"the _meta of a result: {complaint}")
    return result


# --- `_meta` of tools and resources


def describe_item(
    item: Tool | Resource, values: Mapping[str, Any], contributed: Contributions, resources: Mapping[str, Resource]
) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the `_meta` entries of extensions for an item, and the identifiers of these extensions.

    Values for unknown extensions are ignored.

    Raises:
        ToolDefinitionError: an extension rejects the item.
    """
    meta: dict[str, Any] = {}
    users: set[str] = set()
    for identifier, extension in contributed.extensions.items():
        if extension.describe is None:
            continue
        value = values.get(identifier, values.get(extension.option or identifier))
        entries = attempt(extension.describe, item, value, resources)
        if entries is None:
            continue
        if complaint := meta_complaint(entries, identifier):
            raise ToolDefinitionError(f"the _meta of the extension {identifier}: {complaint}")
        meta |= entries
        users.add(identifier)
    return meta, frozenset(users)


def default_mime_type(uri: str, contributed: Contributions) -> str | None:
    """Return the MIME type that an extension defines for a URI. Return None if no extension does."""
    for extension in contributed.extensions.values():
        for start, mime_type in extension.mime_types.items():
            if uri.startswith(start):
                return mime_type
    return None


def without_unused(contributed: Contributions, used: Iterable[str]) -> Contributions:
    """Return the additions without extensions that only describe items but describe none."""
    users = set(used)
    unused = {
        name
        for name, extension in contributed.extensions.items()
        if extension.describe is not None and name not in users
    }

    def kept(things: Mapping[str, T]) -> dict[str, T]:
        return {
            name: contribution
            for name, contribution in things.items()
            if getattr(contribution, "extension", name) not in unused
        }

    return Contributions(
        extensions=kept(contributed.extensions),
        methods=kept(contributed.methods),
        notifications=kept(contributed.notifications),
        topics=kept(contributed.topics),
    )


# --- Rules for single extensions, methods, notification handlers and topics.


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
    complaint = _CHECKS[type(contribution)](contribution)
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


_CHECKS: Mapping[type[Any], Callable[[Any], str | None]] = {
    Extension: _complaint_of_extension,
    Method: _complaint_of_method,
    NotificationHandler: _complaint_of_handler,
    Topic: _complaint_of_topic,
}


def _is_json_object(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    try:
        encode(dict(value))
    except TypeError:
        return False
    return is_finite(dict(value)) and all(isinstance(key, str) for key in value)
