"""Types in a form that pydantic accepts. It rejects some binary types, and before 3.12 the TypedDicts of `typing`."""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from types import UnionType
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

from pydantic import Field
from typing_extensions import TypedDict, is_typeddict


def plain_type(annotation: Any, within: tuple[Any, ...] = ()) -> Any:
    """Return a type that pydantic accepts on each Python, with the docstrings of the fields of TypedDicts.

    Args:
        annotation: the type.
        within: the TypedDicts that contain the type. A recursive TypedDict refers to its original.
    """
    if annotation in (bytearray, memoryview):  # pydantic has no schema for them
        return bytes
    if is_typeddict(annotation):
        return annotation if annotation in within else _typed_dict(annotation, (*within, annotation))
    origin = get_origin(annotation)
    if origin is Annotated:
        return Annotated[(plain_type(get_args(annotation)[0], within), *get_args(annotation)[1:])]
    parts = tuple(plain_type(part, within) for part in get_args(annotation))
    if not parts:  # also typing.Dict and typing.List
        return annotation
    if origin in (Union, UnionType):
        return Union[parts]  # noqa: UP007 - the parts are not known here
    if origin in (list, dict, tuple, set, Required, NotRequired):
        return origin[parts if len(parts) > 1 else parts[0]]
    return annotation


def _typed_dict(cls: Any, within: tuple[Any, ...]) -> Any:
    """Return a TypedDict of `typing_extensions`."""
    notes = {name: note for base in reversed(_bases(cls)) for name, note in _docstrings(base).items()}
    members: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        mark = get_origin(hint) if get_origin(hint) in (Required, NotRequired) else None
        kind = plain_type(get_args(hint)[0] if mark else hint, within)
        if name in notes:
            kind = Annotated[kind, Field(description=notes[name])]
        # the class does not know the marks of annotations that were strings
        is_optional = mark is NotRequired if mark else name in cls.__optional_keys__
        members[name] = NotRequired[kind] if is_optional else kind
    create: Any = TypedDict
    return create(cls.__name__, members)


def _bases(cls: Any) -> list[Any]:
    """Return a TypedDict and its bases."""
    classes = [cls]
    for typed_dict in classes:
        classes += [base for base in getattr(typed_dict, "__orig_bases__", ()) if is_typeddict(base)]
    return classes


def _docstrings(cls: Any) -> dict[str, str]:
    """Return the docstrings below the fields of a class, by field."""
    try:
        [node] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    if not isinstance(node, ast.ClassDef):
        return {}
    notes = {}
    for field, text in zip(node.body, node.body[1:], strict=False):
        note = getattr(getattr(text, "value", None), "value", None) if isinstance(text, ast.Expr) else None
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(note, str):
            notes[field.target.id] = inspect.cleandoc(note)
    return notes
