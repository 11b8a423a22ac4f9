"""The canonical form of JSON values, and their digests.

The canonical form is the JSON of RFC 8785 with two simplifications: members are sorted by code points, and numbers are
written as Python writes them. Both differ from RFC 8785 only for member names outside of the Basic Multilingual Plane,
for integers from 2**53, and for floats such as 1.0 and 1e30.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from pydantic_core import from_json, to_json

from pegboard.plugin import encode
from pegboard_plugins.support.catalogue_lock import CANONICAL_FORM

_PREFIX = f"pegboard definition {CANONICAL_FORM}\n".encode()
"""The first bytes of every digested text. They separate the digests of this version from all others."""


def as_received(value: Any) -> Any:
    """Return a value as clients receive it in JSON: only dicts, lists, strings, numbers, booleans and None.

    Raises:
        TypeError: JSON cannot express the value.
    """
    return from_json(encode(value))


def canonical_json(value: Any) -> bytes:
    """Return the canonical form of a JSON value.

    Raises:
        TypeError: JSON cannot express the value.
    """
    return _written(as_received(value)).encode()


def digest_of(value: Any) -> str:
    """Return the digest of a JSON value, `sha256:` and 64 hexadecimal digits.

    Raises:
        TypeError: JSON cannot express the value.
    """
    return f"sha256:{sha256(_PREFIX + canonical_json(value)).hexdigest()}"


def _written(value: Any) -> str:
    """Return the canonical form. `json` has the same form of numbers, but its import delays the start."""
    if isinstance(value, dict):
        return "{" + ",".join([f"{_written(name)}:{_written(value[name])}" for name in sorted(value)]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return repr(value) if isinstance(value, float) else to_json(value).decode()
