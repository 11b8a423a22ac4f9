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
    """Return False if no definition shows a declared secret. This is faster than `check_secrets` for each.

    Args:
        shown: tools, resources, templates or prompts as clients see them.
        secrets: the known values of declared secrets, by name.
    """
    sought = [value for value in secrets.values() if len(value) >= MIN_SECRET_CHARACTERS]
    try:
        written = to_json([_searched(one) for one in shown], fallback=_fallback) if sought else b""
        return any(to_json(value)[1:-1] in written for value in sought)
    except ValueError:  # JSON cannot express one of the strings
        return True


def check_secrets(shown: Any, secrets: Mapping[str, str]) -> None:
    """Reject a definition in which clients would see the value of a declared secret.

    Args:
        shown: the tool, resource, template or prompt as clients see it.
        secrets: the known values of declared secrets, by name.

    Raises:
        ToolDefinitionError: a string or number contains a secret. The message names the secret, not the value.
    """
    for name, value in secrets.items():
        if not may_show((shown,), {name: value}):
            continue
        # a password that is a common word may occur in descriptions by chance
        whole = value.isalpha() and len(value) < MIN_SUBSTRING_CHARACTERS
        word = re.compile(rf"\s*{re.escape(value)}\s*\Z" if whole else rf"(?<!\w){re.escape(value)}(?!\w)")
        for path, text in _texts(shown, ()):
            if word.match(text) if whole else word.search(text):
                raise ToolDefinitionError(
                    f"its {'.'.join(path)} shows the value of the secret {name} to clients: "
                    f'read it while the tool runs, with context.get_secret("{name}")'
                )


def _searched(record: Any) -> list[Any]:
    """Return the members of a record that are not keywords or names."""
    return [one for name, one in zip(record._fields, record, strict=True) if name not in _WORDS]


def _fallback(value: object) -> Any:
    """Return a value of a type that JSON does not have as one that it has. Secrets are only in mappings."""
    return dict(value) if isinstance(value, Mapping) else None


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each string and number of a JSON value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, int | float):
        yield path, str(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not (name in _WORDS and isinstance(inner, str)):
                yield from _texts(inner, (*path, str(name)))
    elif hasattr(value, "_asdict"):
        yield from _texts({name: one for name, one in value._asdict().items() if name not in _WORDS}, path)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _texts(inner, (*path, str(place)))
