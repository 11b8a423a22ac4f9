"""The record of a session as bytes: it comes back, and nothing else is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.types import ANONYMOUS, LOCAL, Caller, Client
from pegboard_plugins.protocols.mcp.http.session_record import SessionRecord, decode_record, encode_record, owner_of

TEXT = st.text(max_size=5)
OBJECTS = st.dictionaries(TEXT, st.none() | st.lists(st.integers() | st.booleans() | TEXT, max_size=3), max_size=3)
NAMES = st.none() | TEXT
CALLERS = st.tuples(NAMES, st.booleans(), NAMES, NAMES).map(
    lambda values: Caller(values[0], values[1], client_id=values[2], issuer=values[3])
)
CLIENTS = st.tuples(TEXT, TEXT, TEXT, OBJECTS).map(lambda values: Client(*values))
RECORDS = st.tuples(CLIENTS, CALLERS, st.frozensets(TEXT, max_size=3)).map(lambda values: SessionRecord(*values))
SAMPLE = SessionRecord(Client("c"), Caller("alice"), frozenset(("tools",)))


@given(record=RECORDS)
def test_every_field_comes_back(record: SessionRecord) -> None:
    decoded = decode_record(encode_record(record))
    assert decoded == record._replace(caller=record.caller.identity)


def changed(**members: Any) -> bytes:
    return json.dumps({**json.loads(encode_record(SAMPLE)), **members}).encode()


def test_members_of_a_later_version_are_ignored() -> None:
    assert decode_record(changed(more=1)) == SAMPLE


OTHER_BYTES = [b"", b"[]", b"null", b'{"version":3}', b"\xff"]
OTHER_RECORDS = [changed(version=2), changed(caller=None), changed(caller=[]), changed(client=5), changed(offered=5)]


@pytest.mark.parametrize("data", [*OTHER_BYTES, *OTHER_RECORDS])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_record(data)


def test_owners_are_callers_and_anonymous_addresses() -> None:
    ann = Caller("ann", issuer="https://issuer.example")
    callers = [(ann, "a"), (ann._replace(issuer=None), ""), (LOCAL, ""), (ANONYMOUS, "a"), (ANONYMOUS, "b")]
    assert len({owner_of(caller, peer) for caller, peer in callers}) == len(callers)
    assert owner_of(ann, "a") == owner_of(ann._replace(scopes=frozenset({"x"}), client_id="app"), "b")
