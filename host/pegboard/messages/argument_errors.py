"""Invalid arguments and results as messages for a model: one short line for each field.

Messages never repeat values, which may be secret or long. They name the kind of a value ("got a string").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pydantic_core import ValidationError

from pegboard.errors import ToolInputError
from pegboard.messages.error_words import (
    CHOICE_TYPES,
    MAX_LINE_CHARACTERS,
    NOT_ALLOWED,
    UNKNOWN,
    FieldPath,
    alternatives,
    hinted,
    is_type_error,
    line,
    words,
)
from pegboard.messages.hints import choice_hint, choices, common_hint, got, shown, with_hint

MAX_FIELDS = 10
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
        hint: the kind of the value or the closest choice, such as ", got a string".
    """

    path: FieldPath
    form: str | None
    depth: int
    kind: str
    text: str
    hint: str

    @property
    def whole(self) -> str:
        """The problem and the hint."""
        return hinted(self.text, self.hint)


def input_error(
    error: ValidationError,
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    booleans: Iterable[tuple[FieldPath, str]] = (),
) -> ToolInputError:
    """Return the error for invalid arguments.

    Args:
        error: the error of pydantic.
        arguments: the arguments.
        schema: their JSON Schema. Unknown names are compared with its names.
        booleans: the path and the problem of booleans that pydantic reads as numbers.
    """
    lines = _problems(error, arguments, schema or {}, dict(booleans))
    return ToolInputError("Invalid arguments:\n" + "\n".join(lines))


def output_problems(error: ValidationError, value: Any) -> str:
    """Return the problems of a tool's result, for the author of the tool."""
    kind = "None" if value is None else type(value).__name__
    return f"it returned {kind}: {'; '.join(_problems(error, value, {}, {}))}"


def _problems(
    error: ValidationError, value: Any, schema: Mapping[str, Any], booleans: Mapping[FieldPath, str]
) -> list[str]:
    lines: dict[str, list[str]] = {}
    unions: dict[FieldPath, dict[str, list[_Problem]]] = {}
    details = error.errors(include_url=False)
    problems = list(_found(details[:MAX_ERRORS], value, schema))
    refused = {
        problem.path for problem in problems if problem.hint == got(True)
    }  # pydantic rejects these booleans itself
    booleans = {path: text for path, text in booleans.items() if path not in refused}
    for problem in problems:
        if problem.path in booleans:  # pydantic names another problem of the number
            continue
        if problem.form is None:
            _add(lines, problem.path, with_hint(problem.path, problem.whole, schema))
        else:
            union = problem.path[: problem.depth]
            lines.setdefault(_where(union), [])  # its place among the lines
            unions.setdefault(union, {}).setdefault(problem.form, []).append(problem)
    for union, forms in unions.items():
        meant = _meant(forms.values())
        if len(meant) == 1:
            for problem in meant[0]:
                _add(lines, problem.path, with_hint(problem.path, problem.whole, schema))
        else:
            _add(lines, union, with_hint(union, _forms(meant), schema))
    for path, text in booleans.items():
        _add(lines, path, text)
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
        _add(lines, path, with_hint(path, text, schema or {}))
    shown = _lines({where: "; ".join(texts) for where, texts in lines.items()})
    return ToolInputError("Invalid arguments:\n" + "\n".join(shown))


def _add(lines: dict[str, list[str]], path: FieldPath, text: str) -> None:
    texts = lines.setdefault(_where(path), [])
    if _brief(text) not in texts:
        texts.append(_brief(text))


def _where(path: FieldPath) -> str:
    return ".".join(map(shown, path))


def _lines(fields: Mapping[str, str], unseen: int = 0) -> list[str]:
    lines = [line((where,), text[:MAX_LINE_CHARACTERS]) for where, text in list(fields.items())[:MAX_FIELDS]]
    if more := len(fields) - len(lines) + unseen:
        lines.append(f"and {more} more")
    return lines


# --- pydantic's errors


def _found(details: Iterable[Any], arguments: Any, schema: Mapping[str, Any]) -> Iterable[_Problem]:
    for detail in details:
        kind, text, hint = detail["type"], words(detail), ""
        path, value, form, depth, is_name = place_of(detail, arguments)
        if is_name:
            kind, text = "[key]", f"the name {text}"
        elif kind == "extra_forbidden":
            text = UNKNOWN if len(path) == 1 else NOT_ALLOWED
        elif kind in CHOICE_TYPES:
            hint = choice_hint(value, choices(path, schema))
        elif is_type_error(kind):
            hint = got(value)
        yield _Problem(path, form, depth, kind, text, hint)


class Place(NamedTuple):
    """The place of an error of pydantic in the data.

    Attributes:
        path: the path of the field.
        value: the value of the field, or of the nearest object or list around it that exists.
        form: the form of a union that the error belongs to, or None outside of unions.
        depth: the length of the path to the union.
        is_name: True if the error concerns the name of a member.
    """

    path: FieldPath
    value: Any
    form: str | None
    depth: int
    is_name: bool


def place_of(detail: Any, data: Any) -> Place:
    """Return the place of an error. Its location has the branches of unions too."""
    path: FieldPath = ()
    form: str | None = None
    depth, is_name = 0, False
    for number, part in enumerate(detail["loc"], 1):
        below = step(data, part)
        if below is not ABSENT:
            path, data = (*path, part), below
        elif detail["type"] == "missing" and number == len(detail["loc"]):
            path = (*path, part)
        elif part == "[key]":
            is_name = True
        elif form is None:
            form, depth = str(part), len(path)
    return Place(path, data, form, depth, is_name)


ABSENT: Final = object()
"""The result of `step` for an absent value."""


def step(value: Any, part: int | str) -> Any:
    """Return the item of an object or list, or ABSENT if it does not exist."""
    if isinstance(value, Mapping):
        return value.get(part, ABSENT)
    if isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
        return value[part]
    return ABSENT


def _meant(forms: Iterable[list[_Problem]]) -> list[list[_Problem]]:
    """Return the forms of a union that the caller may have intended."""
    left = list(forms)
    # drop forms with another constant field; prefer forms with a wrong member to forms of another type
    left = [form for form in left if not any(map(_is_other_tag, form))] or left
    return [form for form in left if any(len(problem.path) > problem.depth for problem in form)] or left


def _is_other_tag(problem: _Problem) -> bool:
    return problem.kind == "literal_error" and len(problem.path) > problem.depth


def _forms(forms: list[list[_Problem]]) -> str:
    problems = [problem for form in forms for problem in form]
    hint = common_hint(problem.hint for problem in problems)
    if hint is not None and all(len(problem.path) == problem.depth for problem in problems):
        return hinted(alternatives(" and ".join(problem.text for problem in form[:3]) for form in forms), hint)
    return alternatives(
        " and ".join(line([*map(shown, problem.path[problem.depth :])], problem.whole) for problem in form[:3])
        for form in forms
    )


def _brief(message: str) -> str:
    return " ".join(message.split())[:MAX_LINE_CHARACTERS]
