"""Advice on decorator options that do not exist: the nearest option, or the record or decorator that accepts them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pegboard.names import nearest
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ToolAnnotations
from pegboard.types.content import Annotations
from pegboard.types.metadata import Behavior, ToolMetadata

_ABSENT: Mapping[str, Sequence[tuple[str, str]]] = {
    "app": [("ui", "use `ui`")],
    "auth": [
        ("scopes", "use `scopes` for the scopes of callers, and `requires_auth` for a token that the tool needs"),
        ("", "the operator sets the scopes of callers in the configuration"),
    ],
    "desc": [("description", "use `description`")],
    "enabled": [("", "define it only where it is wanted, or let the operator hide it by scopes")],
    "exclude_args": [("", "callers set every parameter except the Context; bind others with `functools.partial`")],
    "execution": [("task", "use `task`")],
    "run_in_thread": [("inline", "sync functions run in threads; use `inline=True` for one that never blocks")],
    "serializer": [("", "return the text, or content")],
    "structured_output": [("output_schema", "use a return type, or `output_schema`")],
}
"""Options of other frameworks, with explanations. An explanation needs the option before it, if any."""


_RECORDS: Sequence[tuple[Any, str, str]] = [
    (ToolAnnotations, "metadata", "annotations=ToolAnnotations({}=...)"),
    (Annotations, "mime_type", "annotations=Annotations({}=...)"),
    (ToolMetadata, "metadata", "metadata=ToolMetadata({}=...)"),
    (Behavior, "metadata", "metadata=ToolMetadata(behavior=Behavior({}=...))"),
]
"""Records with options, each with an option of the only decorator that takes it, and the way to write it."""
_DECORATORS: Mapping[str, Any] = {
    "@kit.tool": ToolDefinition,
    "@kit.resource": ResourceDefinition,
    "@kit.prompt": PromptDefinition,
}
_OF_TOOLKITS = ("config", "instructions", "prefix")


def advice_on(name: str, options: Collection[str]) -> str:
    """Return the end of the message about an option that does not exist.

    Args:
        name: the option.
        known: the options of the decorator.
    """
    if advice := next((text for option, text in _ABSENT.get(name, ()) if not option or option in options), None):
        return f": {advice}"
    field = re.sub("([A-Z])", r"_\1", name).lower().removesuffix("_hint")
    for record, option, form in _RECORDS:
        if option in options and field in record._fields:
            return f": write `{form.format(field)}`"
    owners = [decorator for decorator, definition in _DECORATORS.items() if name in definition._fields]
    if owners or name in _OF_TOOLKITS:
        return f": it is an option of {' and '.join(owners) or 'Toolkit(...)'}"
    if close := nearest(name, options) or next(
        (candidate for candidate in sorted(options) if candidate.startswith(name)), None
    ):
        return f"; did you mean {close!r}?"
    return f": the options are {', '.join(sorted(options))}"
