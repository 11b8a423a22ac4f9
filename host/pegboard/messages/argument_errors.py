"""Invalid arguments and results as messages for a model: one short line for each field.

Messages never repeat values, which may be secret or long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic_core import ValidationError

from pegboard.errors import ToolInputError
from pegboard.messages.field_lines import NOT_ALLOWED, UNKNOWN, FieldPath, alternatives, line

MAX_FIELDS = 10
MAX_NAME_CHARACTERS = 80
"""The length above which the name of a field is cut off."""
MAX_LINE_CHARACTERS = 300
"""The length above which the problem of a field is cut off."""
MAX_ERRORS = 1_000
"""The number of errors that are examined. A large value may have one error for each of its items."""


class _Problem(NamedTuple):
    """An error of pydantic.

    Attributes:
        path: the path of the field.
        form: the form of a union that the error belongs to, or None outside of unions.
        depth: the length of the path to the union.
        kind: pydantic's type of the error.
        text: the problem.
    """

    path: tuple[str, ...]
    form: str | None
    depth: int
    kind: str
    text: str


def input_error(
    error: ValidationError, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> ToolInputError:
    """Return the error for invalid arguments.

    Args:
        error: the error of pydantic.
        arguments: the arguments.
        schema: their JSON Schema. Unknown names are compared with its names.
    """
    return ToolInputError("Invalid arguments:\n" + "\n".join(_problems(error, arguments, schema or {})))


def output_problems(error: ValidationError, value: Any) -> str:
    """Return the problems of a tool's result, for the author of the tool."""
    kind = "None" if value is None else type(value).__name__
    return f"it returned {kind}: {'; '.join(_problems(error, value, {}))}"


def _problems(error: ValidationError, value: Any, schema: Mapping[str, Any]) -> list[str]:
    lines: dict[str, list[str]] = {}
    unions: dict[tuple[str, ...], dict[str, list[_Problem]]] = {}
    details = error.errors(include_url=False)
    for one in _found(details[:MAX_ERRORS], value, schema):
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
    unseen = max(0, len(details) - MAX_ERRORS)
    return _lines({where: "; ".join(texts) for where, texts in lines.items() if texts}, unseen)


def schema_error(problems: Iterable[tuple[FieldPath, str]], schema: Mapping[str, Any] | None = None) -> ToolInputError:
    """Return the error for arguments that do not fit a JSON Schema.

    Args:
        problems: the path and the problem of each field.
        schema: the JSON Schema. Unknown names are compared with its names.
    """
    lines: dict[str, list[str]] = {}
    for path, text in problems:
        if text in (UNKNOWN, NOT_ALLOWED):
            text += _suggestion(path, schema or {})
        _add(lines, tuple(map(_shown, path)), text)
    shown = _lines({where: "; ".join(texts) for where, texts in lines.items()})
    return ToolInputError("Invalid arguments:\n" + "\n".join(shown))


def _add(lines: dict[str, list[str]], path: tuple[str, ...], text: str) -> None:
    texts = lines.setdefault(".".join(path), [])
    if _brief(text) not in texts:
        texts.append(_brief(text))


def _lines(fields: Mapping[str, str], unseen: int = 0) -> list[str]:
    lines = [line((where,), text[:MAX_LINE_CHARACTERS]) for where, text in list(fields.items())[:MAX_FIELDS]]
    if more := len(fields) - len(lines) + unseen:
        lines.append(f"and {more} more")
    return lines


# --- pydantic's errors


def _found(details: Iterable[Any], arguments: Any, schema: Mapping[str, Any]) -> Iterable[_Problem]:
    from pegboard.messages.error_words import words  # most calls fit

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
            elif form is None:  # the form of a union
                form, depth = str(part), len(path)
        if kind == "extra_forbidden":
            text = (UNKNOWN if len(path) == 1 else NOT_ALLOWED) + _suggestion(tuple(path), schema)
        yield _Problem(tuple(map(_shown, path)), form, depth, kind, text)


def _step(value: Any, part: int | str) -> tuple[bool, Any]:
    if isinstance(value, Mapping) and part in value:
        return True, value[part]
    if isinstance(value, list) and type(part) is int and part < len(value):
        return True, value[part]
    return False, value


def _meant(forms: Iterable[list[_Problem]]) -> list[list[_Problem]]:
    """Return the forms of a union that the caller may have intended."""
    left = list(forms)
    # drop forms with another constant field; prefer forms with a wrong member to forms of another type
    left = [form for form in left if not any(map(_is_other_tag, form))] or left
    return [form for form in left if any(len(one.path) > one.depth for one in form)] or left


def _is_other_tag(one: _Problem) -> bool:
    return one.kind == "literal_error" and len(one.path) > one.depth


def _forms(forms: list[list[_Problem]]) -> str:
    return alternatives(" and ".join(line(one.path[one.depth :], one.text) for one in form[:3]) for form in forms)


# --- names


def _suggestion(path: FieldPath, schema: Mapping[str, Any]) -> str:
    """Return a suggestion such as "did you mean ...?" with the known name that is most similar to an unknown name."""
    known = _members(schema, path[:-1], schema.get("$defs", {}))
    if not known:
        return ""
    from pegboard.names import nearest

    close = nearest(str(path[-1])[:MAX_NAME_CHARACTERS].replace("*", "").replace("?", "").replace("[", ""), known)
    return "" if close in (None, path[-1]) else f"; did you mean {_shown(close)!r}?"


def _members(schema: Any, path: FieldPath, definitions: Mapping[str, Any], seen: tuple[str, ...] = ()) -> list[str]:
    """Return the names of members that a schema allows at a path."""
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
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:MAX_NAME_CHARACTERS])
    return text + "..." if len(str(part)) > MAX_NAME_CHARACTERS else text


def _brief(message: str) -> str:
    return " ".join(message.split())[:MAX_LINE_CHARACTERS]
