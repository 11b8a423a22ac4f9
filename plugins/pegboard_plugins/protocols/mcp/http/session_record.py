"""The part of a session over HTTP that never changes, and its form in a store."""

from __future__ import annotations

from typing import Any, NamedTuple

from pegboard.plugin import decode, encode
from pegboard.types import Caller, Client

VERSION = 3
"""The version of the form. Unknown members are ignored, so that a new member needs no new version."""
RECORD = "record"
"""The field of a session in a store that never changes. Other fields are named by `HttpSession`."""


class SessionRecord(NamedTuple):
    """The facts that never change in a session.

    Attributes:
        client: the client that opened the session, with its protocol revision.
        caller: the only caller who may use the session, as its identity.
        offered: the kinds of lists that the handshake advertised.
    """

    client: Client
    caller: Caller
    offered: frozenset[str] = frozenset()


def owner_of(caller: Caller, peer: str) -> str:
    """Return the owner of a caller's sessions. Callers without authentication are distinguished by their addresses."""
    return encode([*_identity(caller), "" if caller.is_known else peer]).decode()


def members_of(record: SessionRecord) -> dict[str, Any]:
    """Return a record as a JSON object."""
    client = record.client
    return {
        "version": VERSION,
        "client": [client.name, client.version, client.revision, dict(client.capabilities)],
        "caller": _identity(record.caller),
        "offered": sorted(record.offered),
    }


def encode_record(record: SessionRecord) -> bytes:
    """Encode a record as JSON."""
    return encode(members_of(record))


def decode_record(data: bytes) -> SessionRecord:
    """Decode a record.

    Raises:
        ValueError: the bytes are not a record, or have another version.
    """
    members = decode(data)
    try:
        if members["version"] != VERSION:
            raise ValueError(f"the session record has version {members['version']!r}")
        subject, trusted, program, issuer = members["caller"]
        caller = Caller(subject, trusted, client_id=program, issuer=issuer)
        return SessionRecord(Client(*members["client"]), caller, frozenset(members["offered"]))
    except (KeyError, TypeError) as error:
        raise ValueError("not a session record") from error


def _identity(caller: Caller) -> list[Any]:
    return [caller.identity.subject, caller.trusted, caller.identity.client_id, caller.issuer]
