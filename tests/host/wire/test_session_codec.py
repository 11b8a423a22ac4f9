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
OBJECTS = st.dictionaries(TEXT, st.none() | st.lists(st.integers() | st.booleans() | TEXT, max_size=3), max_size=3)
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
    SessionRecord,
    id=TEXT,
    client=CLIENTS,
    caller=CALLERS,
    offered=SETS,
    level=TEXT,
    subscriptions=SETS,
    peer=TEXT,
    data=st.dictionaries(TEXT, TEXT, max_size=3),
)
SAMPLE = SessionRecord("id", Client("c"), Caller("alice", extra={"a": 1}), frozenset(("tools",)), "info")
FOUND = json.loads(encode_session(SAMPLE))


@given(record=RECORDS)
def test_every_field_comes_back(record: SessionRecord) -> None:
    data = encode_session(record)
    assert decode_session(data) == record
    assert b"\n" not in data


def test_all_fields_are_covered_and_a_value_without_json_is_refused() -> None:
    assert list(FOUND) == ["version", *SessionRecord._fields]
    assert list(FOUND["client"]) == list(Client._fields)
    assert list(FOUND["caller"]) == list(Caller._fields)
    with pytest.raises(TypeError):
        encode_session(SAMPLE._replace(caller=Caller(extra={"a": object()})))


def rejected(record: Any) -> None:
    with pytest.raises(ValueError, match=r"must be|not a session record"):
        decode_session(json.dumps(record).encode())


def test_missing_members_other_members_and_other_types_are_refused() -> None:
    for name in FOUND:
        rejected({key: member for key, member in FOUND.items() if key != name})
    changes: list[dict[str, Any]] = [
        {"version": 1},
        {"data": []},
        {"data": {"shop/cart": []}},
        {"id": 5},
        {"more": 1},
        {"offered": "tools"},
        {"offered": [5]},
        {"client": None},
        {"client": {"name": "c"}},
    ]
    for change in changes:
        rejected({**FOUND, **change})
    for name in (*Caller._fields, "more"):
        wrong = {name: 1.5 if name != "expires_at" else True}
        rejected({**FOUND, "caller": {**FOUND["caller"], **wrong}})


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"version":1}', b"\xff"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_session(data)
