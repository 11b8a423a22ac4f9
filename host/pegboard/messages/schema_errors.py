"""The errors of jsonschema-rs as lines for a model.

This module does not import jsonschema-rs. Messages never repeat values, only names of members. They may repeat values
of the schema, because the schema is public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from pegboard.messages.error_words import (
    NOT_ALLOWED,
    REQUIRED,
    TYPES,
    UNKNOWN,
    WORDS,
    FieldPath,
    alternatives,
    hinted,
    line,
    words,
)
from pegboard.messages.hints import choice_hint, common_hint, got

MAX_NAMED_VALUE_CHARACTERS = 100
"""The length above which a value of the schema is cut off."""
MAX_OPTIONS = 20
"""The number of options of an enum that a message lists."""


def _json(value: Any) -> str:
    text = to_json(value).decode()
    return text if len(text) <= MAX_NAMED_VALUE_CHARACTERS else text[:MAX_NAMED_VALUE_CHARACTERS] + "..."


def _options(options: list[Any]) -> str:
    more = f" and {len(options) - MAX_OPTIONS} more" if len(options) > MAX_OPTIONS else ""
    return ", ".join(map(_json, options[:MAX_OPTIONS])) + more


_SHOWN: Mapping[str, Callable[[Any], Any]] = {
    "expected_value": _json,
    "limit": lambda limit: limit,
    "multiple_of": lambda factor: factor,
    "options": _options,
    "pattern": lambda pattern: pattern[:MAX_NAMED_VALUE_CHARACTERS],
}
"""The members of an error's kind that messages name, each with a function that shows its value."""


def problems(error: Any, value: Any) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path and the description of each problem in an error.

    Args:
        error: a `jsonschema_rs.ValidationError`.
        value: the value that does not fit the schema.
    """
    path = tuple(error.instance_path)
    kind = error.kind
    name = type(kind).__name__
    if name == "Required":
        yield (*path, kind.property), REQUIRED
    elif name in ("AdditionalProperties", "UnevaluatedProperties"):
        for unexpected in kind.unexpected:
            yield (*path, unexpected), NOT_ALLOWED if path else UNKNOWN
    elif name == "FalseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        # the error does not name the members: without `properties`, these are all members
        for unexpected in _at(value, path) or ():
            yield (*path, unexpected), NOT_ALLOWED if path else UNKNOWN
    elif name == "PropertyNames":
        for _, text in problems(kind.error, value):
            yield path, f"has a member whose name is not allowed: it {text}"
    elif name in ("AnyOf", "OneOfNotValid"):
        yield path, _forms(kind.context, len(path), value)
    else:
        yield path, hinted(_words(name, kind), _hint(name, kind, _at(value, path)))


def _hint(name: str, kind: Any, value: Any) -> str:
    """Return the kind of a value of another type, or the closest choice."""
    if name == "Type":
        return got(value)
    options = kind.options if name == "Enum" else [kind.expected_value] if name == "Constant" else ()
    return choice_hint(value, options)


def _words(name: str, kind: Any) -> str:
    if name == "Type":
        return "must be " + " or ".join(WORDS[TYPES[type_name]].removeprefix("must be ") for type_name in kind.types)
    if name not in WORDS:
        return f"does not fit {kind.name}"
    context = {member: show(getattr(kind, member)) for member, show in _SHOWN.items() if hasattr(kind, member)}
    return words({"type": name, "ctx": context})


def _at(value: Any, path: FieldPath) -> Any:
    for part in path:
        value = value[part]
    return value


def _forms(branches: list[list[Any]], depth: int, value: Any) -> str:
    """Return the problems of all forms of a union."""
    errors = [error for branch in branches for error in branch]
    names = [type(error.kind).__name__ for error in errors]
    if set(names) <= {"Type", "Enum", "Constant"} and all(len(error.instance_path) == depth for error in errors):
        own = _at(value, errors[0].instance_path)
        hint = common_hint(_hint(name, error.kind, own) for name, error in zip(names, errors, strict=True))
        if hint is not None:
            return hinted(
                alternatives(_words(name, error.kind) for name, error in zip(names, errors, strict=True)), hint
            )
    lines: list[str] = []
    for branch in branches:
        texts = [line(path[depth:], text) for error in branch for path, text in problems(error, value)]
        lines += filter(None, [" and ".join(sorted(texts)[:3])])
    return alternatives(lines) or WORDS["AnyOf"]
