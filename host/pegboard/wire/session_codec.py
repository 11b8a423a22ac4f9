"""Encoding of session records, for stores outside of the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from pegboard.plugin.sessions import SessionRecord
from pegboard.types.callers import Caller, Client
from pegboard.wire.codec import decode, encode

FORMAT_VERSION = 2
"""The version of the format. It changes when the fields of the records change."""

_Read: TypeAlias = Callable[[Any], Any]


def encode_session(record: SessionRecord) -> bytes:
    """Encode a session record as one line of JSON in UTF-8.

    Args:
        record: the record. `client.capabilities` and `caller.extra` must be JSON-ready.

    Raises:
        TypeError: a value in the record cannot be represented in JSON.
    """
    return encode({"version": FORMAT_VERSION, **_members(record)})


def decode_session(data: bytes) -> SessionRecord:
    """Decode a session record that `encode_session` encoded.

    A store must treat bytes that cannot be decoded as an unknown session. The client then opens a new session.

    Raises:
        ValueError: the bytes are not a session record, or have another format version.
    """
    members = decode(data)
    if type(members) is not dict or members.pop("version", None) != FORMAT_VERSION:
        raise ValueError(f"not a session record of format version {FORMAT_VERSION}: remove the entry from the store")
    session: SessionRecord = _record(SessionRecord, _SESSION, members)
    return session


def _members(record: Any) -> dict[str, Any]:
    return {name: _value(value) for name, value in record._asdict().items()}


def _value(value: Any) -> Any:
    if isinstance(value, Client | Caller):
        return _members(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else value


def _record(kind: type[Any], members: Mapping[str, _Read], value: Any) -> Any:
    if type(value) is not dict or value.keys() != members.keys():
        raise ValueError(f"a {kind.__name__} must be an object with the members {', '.join(members)}")
    return kind(**{name: read(value[name]) for name, read in members.items()})


def _of(*kinds: type[Any]) -> _Read:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise ValueError(f"{value!r} must be of type {' or '.join(kind.__name__ for kind in kinds)}")
        return value

    return read


def _strings(value: Any) -> frozenset[str]:
    if type(value) is not list or not all(type(text) is str for text in value):
        raise ValueError(f"{value!r} must be a list of strings")
    return frozenset(value)


def _texts(value: Any) -> Mapping[str, str]:
    if type(value) is not dict or not all(type(text) is str for text in value.values()):
        raise ValueError(f"{value!r} must be an object of strings")
    return value


_string, _optional_string = _of(str), _of(str, type(None))

_CLIENT: Mapping[str, _Read] = {
    "name": _string,
    "version": _string,
    "revision": _string,
    "capabilities": _of(dict),
}
_CALLER: Mapping[str, _Read] = {
    "subject": _optional_string,
    "trusted": _of(bool),
    "scopes": _strings,
    "client_id": _optional_string,
    "expires_at": _of(float, int, type(None)),
    "resource": _optional_string,
    "extra": _of(dict, type(None)),
    "issuer": _optional_string,
    "service": _of(bool),
}
_SESSION: Mapping[str, _Read] = {
    "id": _string,
    "client": partial(_record, Client, _CLIENT),
    "caller": partial(_record, Caller, _CALLER),
    "offered": _strings,
    "level": _string,
    "subscriptions": _strings,
    "peer": _string,
    "data": _texts,
}
