"""What is wrong with a call's arguments, in words that a model can act on: one short line for each field.

Values are never repeated: they may be secret, and they may be long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import ValidationError

from pegboard.errors import ToolInputError
from pegboard.messages.schema_errors import NOT_ALLOWED, UNKNOWN, line

if TYPE_CHECKING:
    from pegboard.schemas.subschemas import Path

MOST_LINES = 10
MOST_CHARACTERS = 80
"""Of the name of a field."""
MOST_TEXT = 300
"""Of what is wrong with one field."""
MOST_LOOKED_AT = 1_000
"""How many of the things that are wrong are looked at; there may be as many as there are values."""
MOST_FORMS = 5
"""How many forms of a union are told."""


class _Found(NamedTuple):
    """One thing that is wrong.

    Attributes:
        path: where.
        form: which form of a union it is about, None outside of unions.
        depth: how much of the path leads to that union.
        kind: pydantic's type of the error.
        text: what is wrong.
    """

    path: tuple[str, ...]
    form: str | None
    depth: int
    kind: str
    text: str


def input_error(
    error: ValidationError, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> ToolInputError:
    """The error for the model, from pydantic's.

    Args:
        error: pydantic's.
        arguments: what was validated.
        schema: theirs, to name what may have been meant by a name that is unknown.
    """
    return ToolInputError("Invalid arguments:\n" + "\n".join(_problems(error, arguments, schema or {})))


def output_problems(error: ValidationError, value: Any) -> str:
    """The same of what a tool returned, for its author."""
    kind = "None" if value is None else type(value).__name__
    return f"it returned {kind}: {'; '.join(_problems(error, value, {}))}"


def _problems(error: ValidationError, value: Any, schema: Mapping[str, Any]) -> list[str]:
    lines: dict[str, list[str]] = {}
    unions: dict[tuple[str, ...], dict[str, list[_Found]]] = {}
    details = error.errors(include_url=False)
    for one in _found(details[:MOST_LOOKED_AT], value, schema):
        if one.form is None:
            _add(lines, one.path, one.text)
        else:
            union = one.path[: one.depth]
            lines.setdefault(".".join(union), [])  # its place among the lines
            unions.setdefault(union, {}).setdefault(one.form, []).append(one)
    for union, forms in unions.items():
        meant = _meant(forms.values())
        if len(meant) == 1:
            for one in meant[0]:
                _add(lines, one.path, one.text)
        else:
            _add(lines, union, _forms(meant))
    unseen = max(0, len(details) - MOST_LOOKED_AT)
    return _lines({where: "; ".join(texts) for where, texts in lines.items() if texts}, unseen)


def schema_error(problems: Iterable[tuple[Path, str]], schema: Mapping[str, Any] | None = None) -> ToolInputError:
    """The error for the model, from what a JSON Schema found wrong.

    Args:
        problems: where, and what.
        schema: as of `input_error`.
    """
    lines: dict[str, list[str]] = {}
    for path, text in problems:
        if text in (UNKNOWN, NOT_ALLOWED):
            text += _suggestion(path, schema or {})
        _add(lines, tuple(map(_shown, path)), text)
    told = _lines({where: "; ".join(texts) for where, texts in lines.items()})
    return ToolInputError("Invalid arguments:\n" + "\n".join(told))


def _add(lines: dict[str, list[str]], path: tuple[str, ...], text: str) -> None:
    texts = lines.setdefault(".".join(path), [])
    if _brief(text) not in texts:
        texts.append(_brief(text))


def _lines(fields: Mapping[str, str], unseen: int = 0) -> list[str]:
    lines = [line((where,), text[:MOST_TEXT]) for where, text in list(fields.items())[:MOST_LINES]]
    if more := len(fields) - len(lines) + unseen:
        lines.append(f"and {more} more")
    return lines


# --- pydantic's errors


def _found(details: Iterable[Any], arguments: Any, schema: Mapping[str, Any]) -> Iterable[_Found]:
    from pegboard.messages.argument_words import words  # most calls fit

    for detail in details:
        kind, text = detail["type"], words(detail)
        path: list[int | str] = []
        form, depth, value, location = None, 0, arguments, detail["loc"]
        for place, part in enumerate(location):
            found, value = _step(value, part)
            if found or (kind == "missing" and place == len(location) - 1):
                path.append(part)
            elif part == "[key]":
                text = f"the name {text}"
            elif form is None:  # what tells the forms of a union apart
                form, depth = str(part), len(path)
        if kind == "extra_forbidden":
            text = (UNKNOWN if len(path) == 1 else NOT_ALLOWED) + _suggestion(tuple(path), schema)
        yield _Found(tuple(map(_shown, path)), form, depth, kind, text)


def _step(value: Any, part: int | str) -> tuple[bool, Any]:
    if isinstance(value, Mapping) and part in value:
        return True, value[part]
    if isinstance(value, list) and type(part) is int and part < len(value):
        return True, value[part]
    return False, value


def _meant(forms: Iterable[list[_Found]]) -> list[list[_Found]]:
    """Of the forms of a union, those that a value may have been meant to have."""
    left = list(forms)
    # not one whose constant field is another; rather one that is wrong inside than one of another kind
    left = [form for form in left if not any(map(_is_other_tag, form))] or left
    return [form for form in left if any(len(one.path) > one.depth for one in form)] or left


def _is_other_tag(one: _Found) -> bool:
    return one.kind == "literal_error" and len(one.path) > one.depth


def _forms(forms: list[list[_Found]]) -> str:
    texts: list[str] = []
    for form in forms:
        text = " and ".join(line(one.path[one.depth :], one.text) for one in form[:3])
        if text not in texts:
            texts.append(text)
    more = f", or {len(texts) - MOST_FORMS} other forms" if len(texts) > MOST_FORMS else ""
    return ", or: ".join(texts[:MOST_FORMS]) + more


# --- names


def _suggestion(path: Path, schema: Mapping[str, Any]) -> str:
    """What may have been meant by a name that is unknown."""
    known = _members(schema, path[:-1], schema.get("$defs", {}))
    if not known:
        return ""
    from pegboard.names import nearest

    close = nearest(str(path[-1])[:MOST_CHARACTERS].replace("*", "").replace("?", "").replace("[", ""), known)
    return "" if close in (None, path[-1]) else f"; did you mean {_shown(close)!r}?"


def _members(schema: Any, path: Path, definitions: Mapping[str, Any], seen: tuple[str, ...] = ()) -> list[str]:
    """The names that an object may have for its members, somewhere in what a schema describes."""
    if not isinstance(schema, Mapping):
        return []
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        return [] if name in seen else _members(definitions.get(name), path, definitions, (*seen, name))
    forms = [form for keyword in ("anyOf", "oneOf", "allOf") for form in schema.get(keyword, ())]
    names = [name for form in forms for name in _members(form, path, definitions, seen)]
    named = schema.get("properties", {})
    if not path:
        return [*named, *names]
    inner = schema.get("items") if isinstance(path[0], int) else named.get(path[0], schema.get("additionalProperties"))
    return [*_members(inner, path[1:], definitions), *names]


def _shown(part: int | str) -> str:
    text = str(part)
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:MOST_CHARACTERS])
    return text + "..." if len(str(part)) > MOST_CHARACTERS else text


def _brief(message: str) -> str:
    return " ".join(message.split())[:MOST_TEXT]
