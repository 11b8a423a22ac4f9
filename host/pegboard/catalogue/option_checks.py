"""What authors said with the options of a definition, checked one by one. It compiles nothing and knows no function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.catalogue.shown_texts import check_shown_text
from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import ToolAnnotations
from pegboard.wire.meta_keys import meta_complaint

MAX_TITLE_CHARACTERS = 256
"""Characters of a name or title."""
MAX_DESCRIPTION_CHARACTERS = 16 * 1024
"""Characters of a description; most clients show, and most models read, far less."""
MAX_TIMEOUT_SECONDS = 7 * 24 * 3600
"""The longest time limit."""

CLIENT_ID = "client_id"
"""The key of metadata that says to which program a tool's token was given."""


def check_options(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    """Find what cannot be served; clients refuse a whole list for one member that is not what the schema says.

    Raises:
        ToolDefinitionError: an option is wrong.
    """
    hints = getattr(definition, "annotations", None)
    _check_texts(definition, hints)
    meta = getattr(definition, "meta", None)
    if meta is not None and (complaint := meta_complaint(meta)):
        raise ToolDefinitionError(f"its meta: {complaint}")
    if not isinstance(getattr(definition, "extensions", EMPTY), Mapping):
        raise ToolDefinitionError("its extensions are no dict; write {identifier: what is said for it}")
    _check_lists(definition)
    for secret in getattr(definition, "requires_secrets", ()):
        _check_key("secret", secret)
    for key in getattr(definition, "requires_metadata", ()):
        _check_key("metadata", key)
    _check_shown(definition)
    if isinstance(definition, ToolDefinition):
        _check_flags(definition)
        if definition.requires_auth is not None or definition.scopes:
            _check_authorization(definition)
        if CLIENT_ID in map(str.lower, definition.requires_metadata) and definition.requires_auth is None:
            raise ToolDefinitionError(f"it requires the metadata {CLIENT_ID}, that of a token, and no token; say whose")
        _check_limits(definition)
        _check_adapters(definition.adapters)
        if hints is not None:
            _check_hints(hints)


def _check_lists(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    for name in ("scopes", "requires_secrets", "requires_metadata"):
        given = getattr(definition, name, ())
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise ToolDefinitionError(f"its {name} are {given!r}, not a list of names")


def _check_key(what: str, key: object) -> None:
    """The name of a secret may be that of a variable or a file, and stands in messages to people."""
    if not isinstance(key, str) or not key.isprintable() or not key or set(key) & set(" =/\\"):
        raise ToolDefinitionError(f"it requires the {what} {key!r}, which is no name")


def _check_texts(definition: ToolDefinition | ResourceDefinition | PromptDefinition, hints: object) -> None:
    texts = {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "mime_type": getattr(definition, "mime_type", None),
        "annotations.title": hints.title if isinstance(hints, ToolAnnotations) else None,
    }
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ToolDefinitionError(f"its {name} is {value!r}, not text")
        if value:
            check_shown_text(name, value, MAX_DESCRIPTION_CHARACTERS if name == "description" else MAX_TITLE_CHARACTERS)


def _check_flags(definition: ToolDefinition) -> None:
    for name in ("strict", "inline"):
        if not isinstance(getattr(definition, name), bool):
            raise ToolDefinitionError(f"its {name} is {getattr(definition, name)!r}, not true or false")


def _check_authorization(definition: ToolDefinition) -> None:
    # most hosts have no such tool, and do not pay for the import
    from pegboard.authorization.tool_authorization import check_authorization

    check_authorization(definition)


def _check_adapters(adapters: object) -> None:
    if not isinstance(adapters, Sequence):
        raise ToolDefinitionError(f"its adapters are {adapters!r}, not a list")
    for one in adapters:
        if isinstance(one, type):
            raise ToolDefinitionError(f"its adapter {one.__name__} is a class; give an object of it")
        if not isinstance(getattr(one, "slug", None), str) or not callable(getattr(one, "from_exception", None)):
            raise ToolDefinitionError(f"its adapter {one!r} lacks a slug or a method from_exception")


def _check_limits(definition: ToolDefinition) -> None:
    timeout: Any = definition.timeout
    size: Any = definition.max_result
    if timeout is not None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_TIMEOUT_SECONDS:
            raise ToolDefinitionError(f"its timeout is {timeout!r}, not a number of seconds, 0 for no limit")
        if timeout and definition.inline:
            raise ToolDefinitionError(
                "it is inline and has a timeout, but nothing can interrupt what runs on the event loop; leave one out"
            )
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise ToolDefinitionError(f"its max_result is {size!r}, not a number of bytes, 0 for any")


def _check_hints(hints: object) -> None:
    if not isinstance(hints, ToolAnnotations):
        raise ToolDefinitionError(f"its annotations are {hints!r}, not ToolAnnotations(read_only=..., extra={{...}})")
    if not isinstance(hints.extra, Mapping):
        raise ToolDefinitionError(f"its annotations: extra is {hints.extra!r}, not a dict")
    for name in ("read_only", "destructive", "idempotent", "open_world"):
        if not isinstance(getattr(hints, name), bool | None):
            raise ToolDefinitionError(f"its annotation {name} is {getattr(hints, name)!r}, not true or false")
    check_sense(hints)


def check_sense(hints: ToolAnnotations) -> None:
    """Refuse hints that cannot both be true.

    Raises:
        ToolDefinitionError: these cannot.
    """
    if hints.read_only and hints.destructive:
        raise ToolDefinitionError("it is said to be read_only and destructive; what changes nothing loses nothing")


def _check_shown(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    """What resources and messages have in common, read by rules that are loaded where there is something to check."""
    resource = definition if isinstance(definition, ResourceDefinition) else None
    if not definition.icons and (resource is None or (resource.annotations is None and resource.size is None)):
        return
    from pegboard.content.rules import ContentError, check_annotations, check_icons, check_size

    try:
        check_icons(definition.icons)
        if resource is not None:
            check_annotations(resource.annotations)
            check_size(resource.size)
    except ContentError as error:
        raise ToolDefinitionError(f"its {error}") from None
