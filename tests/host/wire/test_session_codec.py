"""Session records as bytes: every field comes back, and nothing else is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.plugin import SessionRecord, decode_session, encode_session
from pegboard.types import Caller, Client

TEXT = st.text(max_size=5)
SETS = st.frozensets(TEXT, max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
CALLERS = st.builds(
    Caller,
    subject=st.none() | TEXT,
    trusted=st.booleans(),
    scopes=SETS,
    client_id=st.none() | TEXT,
    expires_at=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    resource=st.none() | TEXT,
    extra=st.none() | OBJECTS,
    issuer=st.none() | TEXT,
    service=st.booleans(),
)
CLIENTS = st.builds(Client, name=TEXT, version=TEXT, revision=TEXT, capabilities=OBJECTS)
RECORDS = st.builds(
    SessionRecord, id=TEXT, client=CLIENTS, caller=CALLERS, offered=SETS, level=TEXT, subscriptions=SETS, peer=TEXT
)
SAMPLE = SessionRecord("id", Client("c"), Caller("alice", extra={"a": 1}), frozenset(("tools",)), "info")


@given(record=RECORDS)
def test_every_field_comes_back(record: SessionRecord) -> None:
    data = encode_session(record)
    assert decode_session(data) == record
    assert b"\n" not in data


def test_all_fields_are_covered() -> None:
    found = json.loads(encode_session(SAMPLE))
    assert list(found) == ["version", *SessionRecord._fields]
    assert list(found["client"]) == list(Client._fields)
    assert list(found["caller"]) == list(Caller._fields)
    assert decode_session(encode_session(SAMPLE)) == SAMPLE


def test_a_value_that_json_lacks_is_refused() -> None:
    with pytest.raises(TypeError):
        encode_session(SAMPLE._replace(caller=Caller(extra={"a": object()})))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": None},
        {"id": 5},
        {"more": 1},
        {"offered": "tools"},
        {"offered": [5]},
        {"client": None},
        {"client": {"name": "c"}},
        *({"caller": {name: 1.5 if name != "expires_at" else True}} for name in Caller._fields),
        {"caller": {"extra": []}},
        {"caller": {"more": 1}},
    ],
    ids=str,
)
def test_other_members_and_types_are_refused(change: dict[str, Any]) -> None:
    found = json.loads(encode_session(SAMPLE))
    if isinstance(change.get("caller"), dict):
        change = {"caller": {**found["caller"], **change["caller"]}}
    with pytest.raises(ValueError, match=r"must be|not a session record"):
        decode_session(json.dumps({**found, **change}).encode())
    for name in change:
        if name in found:
            with pytest.raises(ValueError, match=r"must be|not a session record"):
                decode_session(json.dumps({key: one for key, one in found.items() if key != name}).encode())


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"5", b"null", b'{"version":1}', b"\xff"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_session(data)
