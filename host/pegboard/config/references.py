"""References to environment variables in the configuration. `secret_values.py` masks their values in reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pegboard.config.problems import ConfigProblem, KeyPath

MIN_SECRET_CHARACTERS = 6
"""The minimum length of a secret that is masked. A shorter secret would match inside other words."""


@dataclass(frozen=True, slots=True)  # an encoded named tuple would show its value
class SecretRef:
    """A table `{ env = "NAME" }` in a section, which refers to an environment variable.

    Attributes:
        env: the variable's name.
        value: the variable's value, or None if the variable is unset or empty. It is never shown.
    """

    env: str
    value: str | None = field(repr=False)

    def __repr__(self) -> str:
        return f'{{ env = "{self.env}" }}'


def refer(section: Mapping[str, Any], environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an immutable copy of a section with its references resolved."""
    return MappingProxyType({key: _refer(value, environ) for key, value in section.items()})


def _refer(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {"env"} and isinstance(value["env"], str):
            return SecretRef(value["env"], environ.get(value["env"]) or None)
        return refer(value, environ)
    return tuple(_refer(item, environ) for item in value) if isinstance(value, list | tuple) else value


def resolve(value: Any) -> Any:
    """Return a section as dicts and lists, with references replaced by their values."""
    if isinstance(value, SecretRef):
        return value.value
    if isinstance(value, Mapping):
        return {key: resolve(item) for key, item in value.items()}
    return [resolve(item) for item in value] if isinstance(value, tuple) else value


def references(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, SecretRef]]:
    """Yield every reference below a value, with its path."""
    if isinstance(value, SecretRef):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from references(item, (*path, key))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from references(item, (*path, place))


def unset_variables(
    problem: Callable[[str, KeyPath], ConfigProblem], section: Mapping[str, Any], path: KeyPath
) -> list[ConfigProblem]:
    """Return a problem for each reference to a variable that is unset or empty. `problem` locates it."""
    return [
        problem(f'the environment variable "{ref.env}" is missing or empty', place)
        for place, ref in references(section, path)
        if ref.value is None
    ]
