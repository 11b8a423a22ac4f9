"""Detection and masking of secret values of the configuration. This module is imported only for reports."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.config.problems import KeyPath
from pegboard.config.references import SecretRef

MASK = "**********"

_SECRET_WORD = re.compile(
    r"secret|password|passwd|passphrase|credential|api_?key|(^|_)(token|pwd|pass|dsn|cookie|authorization|bearer)s?(_(?!(type|endpoint)s?$)|$)|(^|_)keys?$"
)
_PUBLIC_TABLES = frozenset(("authorization_server", "authorization_servers"))
"""Secret names whose value may be a table in which only keys with secret names are secret. A string value is secret."""
_SECRET_TABLES = frozenset(("headers",))
"""Tables whose values are all secret: any header may carry a credential."""
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USER_INFO = re.compile(r"(?<=://)[^/\s]+(?=@)")
_FILES = (".pem", ".key", ".crt", ".json", ".txt")
_PASSWORD = re.compile(r"://[^/\s:]*:([^/\s]+)@")


def is_secret(path: KeyPath) -> bool:
    """Return True if the name of the key or of an enclosing table marks the value as secret."""
    if path[:2] == ("host", "toolkits"):
        return False  # `secrets` there lists names
    names = [_HUMPS.sub("_", part).casefold().replace("-", "_") for part in path[2:] if isinstance(part, str)]
    tables = [name for name in names[:-1] if name not in _PUBLIC_TABLES]
    if not _SECRET_TABLES.isdisjoint(tables):
        return True
    return any(_SECRET_WORD.search(name) for name in (*tables, *names[-1:]))


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
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets_in_section(item, (*path, str(key)))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for place, item in enumerate(value):
            yield from secrets_in_section(item, (*path, place))
    elif isinstance(value, SecretRef):
        yield from (value.value, *_PASSWORD.findall(value.value)) if value.value else ()
    elif isinstance(value, str):
        yield from _PASSWORD.findall(value)
        if is_secret(path) and not (value.endswith(_FILES) or os.path.exists(value)):
            yield value


def mask_user_info(text: str) -> str:
    """Return a string with the user names and passwords in URLs masked (RFC 3986, 3.2.1)."""
    return _USER_INFO.sub(MASK, text)
