"""The types of values in JSON that other programs may have changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_WORDS: Mapping[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}


class Each(NamedTuple):
    """The type of an object whose members all have one type, whatever their names."""

    type: Any


class WrongType(NamedTuple):
    """A value of a wrong type.

    Attributes:
        path: the names of the members that lead to it.
        problem: the type that it must have, as a clause such as "must be a string".
    """

    path: tuple[str, ...]
    problem: str


def wrong_type(value: Any, expected: Any) -> WrongType | None:
    """Return the first value of a wrong type, or None.

    Args:
        value: the value.
        expected: its type: `str`, `list` for a list of strings, `dict` for any object, `Each`, or the types of the
            members of an object, all of which may be missing.
    """
    kind: Any = expected if isinstance(expected, type) else dict
    if type(value) is not kind or (kind is list and not all(type(item) is str for item in value)):
        return WrongType((), f"must be {_WORDS[kind]}")
    if isinstance(expected, Each):
        expected = dict.fromkeys(value, expected.type)
    for name, member in expected.items() if isinstance(expected, Mapping) else ():
        if name in value and (wrong := wrong_type(value[name], member)) is not None:
            return WrongType((name, *wrong.path), wrong.problem)
    return None
