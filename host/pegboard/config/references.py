"""References to environment variables in the configuration, and secret values with their masks in reports.

Patterns are compiled on first use, because most starts report nothing.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def values_in(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield every value below a value that is neither a table nor a list, with its path."""
    if isinstance(value, Mapping):
        items: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        items = enumerate(value)
    else:
        yield path, value
        return
    for key, item in items:
        yield from values_in(item, (*path, key))


def references(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, SecretRef]]:
    """Return every reference below a value, with its path."""
    return ((place, ref) for place, ref in values_in(value, path) if isinstance(ref, SecretRef))


def unset_variables(
    problem: Callable[[str, KeyPath], ConfigProblem], section: Mapping[str, Any], path: KeyPath
) -> list[ConfigProblem]:
    """Return a problem for each reference to a variable that is unset or empty. `problem` locates it."""
    return [
        problem(f'the environment variable "{ref.env}" is missing or empty', place)
        for place, ref in references(section, path)
        if ref.value is None
    ]


# --- Secret values, and their masks in reports.

MASK = "**********"

_HIDDEN_WORD = (
    r"secret|password|passwd|passphrase|credential|api_?key"
    r"|(^|_)(token|pwd|pass|dsn|cookie|authorization|bearer)s?(_(?!(type|endpoint)s?$)|$)|(^|_)keys?$"
)
_PUBLIC_TABLES = frozenset(("authorization_server", "authorization_servers"))
"""Secret names whose value may be a table in which only keys with secret names are secret. A string value is secret."""
_SECRET_TABLES = frozenset(("headers",))
"""Tables whose values are all secret: any header may carry a credential."""
_HUMPS = r"(?<=[a-z0-9])(?=[A-Z])"
_USER_INFO = r"(?<=://)[^/\s]+(?=@)"
_FILES = (".pem", ".key", ".crt", ".json", ".txt")
_URL_LOGIN = r"://[^/\s:]*:([^/\s]+)@"


def is_secret(path: KeyPath) -> bool:
    """Return True if the name of the key or of an enclosing table marks the value as secret."""
    if path[:2] == ("host", "toolkits"):
        return False  # `secrets` there lists names
    names = [re.sub(_HUMPS, "_", part).casefold().replace("-", "_") for part in path[2:] if isinstance(part, str)]
    tables = [name for name in names[:-1] if name not in _PUBLIC_TABLES]
    if not _SECRET_TABLES.isdisjoint(tables):
        return True
    return any(re.search(_HIDDEN_WORD, name) for name in (*tables, *names[-1:]))


def masked(value: Any, path: KeyPath) -> Any:
    """Return a JSON-ready copy of a value. References stay as written. Secrets and passwords in URLs are masked."""
    if isinstance(value, SecretRef):
        return {"env": value.env}
    if isinstance(value, Mapping):
        return {str(key): masked(item, (*path, str(key))) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [masked(item, (*path, place)) for place, item in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if is_secret(path):
        return MASK
    return value if isinstance(value, int | float) else mask_user_info(str(value))


def secrets_in_section(value: Any, path: KeyPath) -> Iterator[str]:
    """Yield the secret strings in a value: values of references, and values of keys with secret names.

    Paths of existing files and paths with a suffix such as `.pem` are not secret.
    """
    for place, item in values_in(value, path):
        if isinstance(item, SecretRef):
            yield from (item.value, *re.findall(_URL_LOGIN, item.value)) if item.value else ()
        elif isinstance(item, str):
            yield from re.findall(_URL_LOGIN, item)
            if is_secret(place) and not (item.endswith(_FILES) or os.path.exists(item)):
                yield item


def mask_user_info(text: str) -> str:
    """Return a string with the user names and passwords in URLs masked (RFC 3986, 3.2.1)."""
    return re.sub(_USER_INFO, MASK, text)
