"""Secrets in definitions that every client would see, such as a default value read from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from pegboard.config.references import MIN_SECRET_CHARACTERS
from pegboard.errors import ToolDefinitionError

_WORDS = frozenset(("type", "format", "required", "name", "owner", "version", "requires", "mirrors", "definition"))
"""Members whose strings are keywords or names. They are not searched, because a short secret could match by chance."""

MIN_SUBSTRING_CHARACTERS = 16
"""The minimum length of a secret of only letters that is searched for inside longer strings."""


def may_show(shown: Iterable[Any], secrets: Mapping[str, str]) -> bool:
    """Return True if a definition may show a declared secret. This is faster than `check_secrets` for each of them.

    Args:
        shown: tools, resources, templates or prompts as clients see them.
        secrets: the known values of declared secrets, by name.
    """
    sought = [value for value in secrets.values() if len(value) >= MIN_SECRET_CHARACTERS]
    try:
        written = to_json([_searched(item) for item in shown], fallback=_fallback) if sought else b""
        return any(to_json(value)[1:-1] in written for value in sought)
    except ValueError:  # JSON cannot express one of the strings
        return True


def check_secrets(shown: Any, secrets: Mapping[str, str]) -> None:
    """Reject a definition in which clients would see the value of a declared secret.

    Args:
        shown: the tool, resource, template or prompt as clients see it.
        secrets: the known values of declared secrets, by name.

    Raises:
        ToolDefinitionError: a string, a number or the name of a member contains a secret. The message names the secret,
            not the value.
    """
    for name, value in secrets.items():
        if not may_show((shown,), {name: value}):
            continue
        # a password that is a common word may occur in descriptions by chance
        whole = value.isalpha() and len(value) < MIN_SUBSTRING_CHARACTERS
        word = re.compile(rf"\s*{re.escape(value)}\s*\Z" if whole else rf"(?<!\w){re.escape(value)}(?!\w)")
        for path, text in _texts(shown, (), names=not whole):
            if word.match(text) if whole else word.search(text):
                place = ".".join(path)
                place = (
                    path[0] if any(secret in place for secret in secrets.values()) else place
                )  # a name may be a secret
                raise ToolDefinitionError(
                    f"its {place} shows the value of the secret {name} to clients: "
                    f'read it while the tool runs, with context.get_secret("{name}")'
                )


def _searched(record: Any) -> list[Any]:
    """Return the members of a record that are not keywords or names."""
    return [value for name, value in zip(record._fields, record, strict=True) if name not in _WORDS]


def _fallback(value: object) -> Any:
    """Convert a value that JSON cannot express. Only mappings can hold secrets; other values become null."""
    return dict(value) if isinstance(value, Mapping) else None


def _texts(value: Any, path: tuple[str, ...], *, names: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each string and number of a JSON value with its path, and each name of a member with that of its object.

    Args:
        value: the value.
        path: its path.
        names: False without names, because the secret is a word that may be a keyword or the name of a parameter.
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, int | float):
        yield path, str(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if names:
                yield path, str(name)
            if not (name in _WORDS and isinstance(inner, str)):
                yield from _texts(inner, (*path, str(name)), names=names)
    elif isinstance(value, list | tuple):
        places = map(str, range(len(value))) if not hasattr(value, "_fields") else value._fields
        for place, inner in zip(places, value, strict=True):
            if place not in _WORDS:
                yield from _texts(inner, (*path, place), names=names)
