"""The checks of a tool's metadata and annotations, and their encoding in `_meta`.

This module is imported only for tools that have metadata or own annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from pegboard.catalogue.option_checks import check_sense
from pegboard.errors import ToolDefinitionError
from pegboard.names import did_you_mean
from pegboard.types.catalogue import Tool, ToolAnnotations
from pegboard.types.metadata import Behavior, Classification, Operation, ServiceDomain, ToolMetadata
from pegboard.wire.meta_keys import MAX_META_LEVELS, nests_within

HINTS = ("read_only", "destructive", "idempotent", "open_world")
"""The hints that both `Behavior` and `ToolAnnotations` have."""

MAX_DOMAIN_CHARACTERS = 64
"""The maximum length of a service domain's name."""

_DOMAIN = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII)
_OWN_ARGUMENTS = {
    "title": "title",
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""The arguments of `ToolAnnotations` by the protocol's names of annotations."""

METADATA_KEY = "pegboard/metadata"
"""The `_meta` key for the metadata."""


def with_kind(tool: Tool, metadata: object) -> Tool:
    """Return a copy of a tool with its metadata in annotations and `_meta`.

    Args:
        tool: the tool with the author's annotations and `_meta`.
        metadata: the author's metadata; None for none.

    Raises:
        ToolDefinitionError: the metadata or annotations are invalid.
    """
    hints = tool.annotations
    if hints is not None and hints.extra:
        hints = hints._replace(extra=_checked_extra(hints.extra))
    if metadata is None:
        return tool._replace(annotations=hints)
    checked = _checked_metadata(metadata)
    shown = _metadata_object(checked)
    meta = {**(tool.meta or {}), METADATA_KEY: shown} if shown else tool.meta
    definition = tool.definition and tool.definition._replace(metadata=checked)
    return tool._replace(annotations=_merged_hints(hints, checked), meta=meta, definition=definition)


def _checked_metadata(metadata: object) -> ToolMetadata:
    """Return metadata as plain strings, lists and dicts.

    Raises:
        ToolDefinitionError: the metadata is invalid, or contradicts itself.
    """
    if not isinstance(metadata, ToolMetadata):
        raise _wrong(f"it must be ToolMetadata, not {type(metadata).__name__}")
    classification, behavior, extras, strict = metadata
    if not isinstance(strict, bool):
        raise _wrong(f"its strict must be true or false, not {strict!r}")
    domains = None if classification is None else _checked_classification(classification)
    behavior = None if behavior is None else _checked_behavior(behavior)
    if not isinstance(extras, Mapping | None):
        raise _wrong(f"its extras must be a dict, not {extras!r}")
    extras = None if extras is None else _own_json(extras, "its metadata: extras")
    if strict and behavior is not None and (complaint := _contradiction(behavior, domains)):
        raise _wrong(f"{complaint}: change one of the two values, or set strict=False to keep both")
    return ToolMetadata(domains, behavior, extras, strict)


def _wrong(complaint: str) -> ToolDefinitionError:
    return ToolDefinitionError(f"its metadata: {complaint}")


def _checked_classification(classification: object) -> Classification:
    if not isinstance(classification, Classification):
        raise _wrong(f"its classification must be Classification, not {classification!r}")
    domains = tuple(_texts(classification.service_domains, "service_domains"))
    for domain in domains:
        if not _DOMAIN.fullmatch(domain) or len(domain) > MAX_DOMAIN_CHARACTERS:
            hint = did_you_mean(domain, map(str, ServiceDomain)) or ", such as cloud_storage"
            raise _wrong(
                f"the service domain {domain!r} is not in snake case of at most {MAX_DOMAIN_CHARACTERS} "
                f"characters{hint}"
            )
    return Classification(domains)


def _checked_behavior(behavior: object) -> Behavior:
    if not isinstance(behavior, Behavior):
        raise _wrong(f"its behavior must be Behavior, not {behavior!r}")
    operations = tuple(_texts(behavior.operations, "operations"))
    for operation in operations:
        if operation not in set(Operation):
            raise _wrong(f"unknown operation {operation!r}: use one of {', '.join(Operation)}")
    for name in HINTS:
        if not isinstance(getattr(behavior, name), bool | None):
            raise _wrong(f"its {name} must be true or false, not {getattr(behavior, name)!r}")
    return behavior._replace(operations=operations)


def _texts(texts: object, name: str) -> Iterable[str]:
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        raise _wrong(f"its {name} must be a list, not {texts!r}")
    for text in texts:
        if not isinstance(text, str):
            raise _wrong(f"its {name} must be strings, not {text!r}")
        yield str.__str__(text)


def _contradiction(behavior: Behavior, classification: Classification | None) -> str | None:
    changing = [operation for operation in behavior.operations if operation not in (Operation.READ, Operation.OPAQUE)]
    if behavior.read_only and changing:
        return f"read_only=True contradicts the operations: {', '.join(changing)}"
    if behavior.read_only and Operation.OPAQUE in behavior.operations:
        return "read_only=True contradicts the operation opaque"
    if behavior.destructive is False and Operation.DELETE in behavior.operations:
        return "destructive=False contradicts the operation delete"
    if behavior.open_world is False and classification is not None and classification.service_domains:
        domains = ", ".join(classification.service_domains)
        return f"open_world=False contradicts the service domains {domains}"
    return None


def _merged_hints(annotations: ToolAnnotations | None, metadata: ToolMetadata) -> ToolAnnotations | None:
    """Return the hints for clients. Annotations take precedence over the behavior.

    Raises:
        ToolDefinitionError: the hints contradict each other.
    """
    behavior = metadata.behavior
    if behavior is None:
        return annotations
    hints = annotations or ToolAnnotations()
    for name in HINTS:
        own, other = getattr(hints, name), getattr(behavior, name)
        if own is None and other is not None:
            hints = hints._replace(**{name: other})
        elif metadata.strict and None not in (own, other) and own is not other:
            contradiction = f"its annotations say {name}={own} and its metadata {name}={other}"
            raise ToolDefinitionError(f"{contradiction}. Remove one, or set strict=False in the metadata")
    if metadata.strict:
        check_sense(hints)
    return None if hints == ToolAnnotations() else hints


def _metadata_object(metadata: ToolMetadata) -> dict[str, Any]:
    """Return the metadata for clients, without null and empty members."""
    classification, behavior, extras, _ = metadata
    sections = {
        "classification": _present(classification._asdict()) if classification else {},
        "behavior": _present(behavior._asdict()) if behavior else {},
        "extras": extras or {},
    }
    return {name: value for name, value in sections.items() if value}


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    present = {name: value for name, value in members.items() if value is not None and value != ()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in present.items()}


def _checked_extra(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the author's additional annotations (`extra`).

    Raises:
        ToolDefinitionError: the annotations are not JSON, or a name is defined by the protocol.
    """
    for key in extra:
        own = key if key in _OWN_ARGUMENTS.values() else _OWN_ARGUMENTS.get(key)
        if own is not None:
            raise ToolDefinitionError(
                f"its annotations: {key!r} is not allowed in extra. Write ToolAnnotations({own}=...)"
            )
        if not str(key).strip() or not str(key).isprintable():
            raise ToolDefinitionError(
                f"its annotations: invalid name {key!r} in extra: use one such as com.example/name"
            )
    return _own_json(extra, "its annotations: extra")


def _own_json(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a copy of an author's dict that contains only JSON types.

    Raises:
        ToolDefinitionError: a value is not JSON, or nested too deeply.
    """
    if not nests_within(value, MAX_META_LEVELS):
        raise ToolDefinitionError(f"{where} is nested more than {MAX_META_LEVELS} levels deep")
    plain: dict[str, Any] = _plain_json(value, where)
    return plain


def _plain_json(value: object, where: str) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ToolDefinitionError(f"{where} must have string keys, not {key!r}")
        return {str.__str__(key): _plain_json(member, f"{where}[{key!r}]") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item, f"{where}[{place}]") for place, item in enumerate(value)]
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ToolDefinitionError(f"{where} must be JSON, not {value!r}")
