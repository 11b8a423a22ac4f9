"""Values that configuration refers to and does not hold, and the care that secret values need in reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pegboard.config.problems import KeyPath

MASK = "**********"

_SECRET_WORD = re.compile(
    r"secret|password|passwd|passphrase|credential|api_?key|(^|_)(token|pwd|pass|dsn|cookie|authorization|bearer)s?(_|$)|(^|_)keys?$"
)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USER_INFO = re.compile(r"(?<=://)[^/\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class SecretRef:
    """A table `{ env = "NAME" }` in a section: the value of an environment variable.

    Attributes:
        env: the variable's name.
        value: its value, None when it is missing or empty; never shown.
    """

    env: str
    value: str | None = field(repr=False)

    def __repr__(self) -> str:
        return f'{{ env = "{self.env}" }}'


def refer(section: Mapping[str, Any], environ: Mapping[str, str]) -> Mapping[str, Any]:
    """A section, frozen, with its references looked up. The section itself is never a reference."""
    return MappingProxyType({key: _refer(value, environ) for key, value in section.items()})


def _refer(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {"env"} and isinstance(value["env"], str):
            return SecretRef(value["env"], environ.get(value["env"]) or None)
        return refer(value, environ)
    return tuple(_refer(item, environ) for item in value) if isinstance(value, list | tuple) else value


def resolve(value: Any) -> Any:
    """Plain dicts and lists for a model, with the values that references stand for."""
    if isinstance(value, SecretRef):
        return value.value
    if isinstance(value, Mapping):
        return {key: resolve(item) for key, item in value.items()}
    return [resolve(item) for item in value] if isinstance(value, tuple) else value


def references(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, SecretRef]]:
    """Every reference below a value, with the way to it."""
    if isinstance(value, SecretRef):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from references(item, (*path, key))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from references(item, (*path, place))


def is_secret(path: KeyPath) -> bool:
    """Whether a key's name says that its value is secret. Nothing in `[host]` is."""
    names = [_HUMPS.sub("_", part).casefold().replace("-", "_") for part in path[2:] if isinstance(part, str)]
    return path[0] != "host" and any(_SECRET_WORD.search(name) for name in names)


def shown(value: Any, path: KeyPath) -> Any:
    """A value as it may be shown: JSON-ready, references as written, secrets and passwords in URLs masked."""
    if isinstance(value, SecretRef):
        return {"env": value.env}
    if isinstance(value, Mapping):
        return {str(key): shown(item, (*path, str(key))) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [shown(item, (*path, place)) for place, item in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if is_secret(path):
        return MASK
    return value if isinstance(value, int | float) else without_user_info(str(value))


def without_user_info(text: str) -> str:
    """Text with the name and password of URLs masked (RFC 3986 section 3.2.1)."""
    return _USER_INFO.sub(MASK, text)
