"""The envelope of a message that is too long to keep, however its members are ordered and it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.transports.stdio.oversized_message import OversizedMessage

IDS = st.one_of(st.integers(), st.text(max_size=20))
TEXT = st.text(st.sampled_from('a"\\{}[],:\n \x00é🧰id'), max_size=12)
NAMES = st.one_of(TEXT, st.just("id"), st.just("method"))
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=20,
)


def scanned(*parts: bytes) -> OversizedMessage:
    message = OversizedMessage()
    for part in parts:
        message.feed(part)
    return message


@given(IDS | st.none(), st.dictionaries(st.sampled_from(["params", "jsonrpc", "x", "é"]), VALUES), st.data())
def test_the_id_is_found_and_no_other_member_is_taken_for_it(request_id: Any, others: Any, data: Any) -> None:
    own = [] if request_id is None else [("id", request_id)]
    members = data.draw(st.permutations([*own, ("method", "tools/call"), *others.items()]))
    indent, ascii_only = data.draw(st.sampled_from([None, 1])), data.draw(st.booleans())
    raw = json.dumps(dict(members), indent=indent, ensure_ascii=ascii_only).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    message = scanned(*(raw[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)))
    assert (message.id, message.is_response, message.is_notification) == (request_id, False, request_id is None)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (rb'{"\u0069d":5,"method":"x"}', 5),
        (b'{"id":1,"params":"\\",\\"id\\":5"}', 1),
        (b'{"id":"%b","method":"x"}' % (b"x" * 2000), None),
        (b'{"id":%b,"method":"x"}' % (b"1" * 2000), None),
        (b'{"id":1.5,"method":"x"}', None),
        (b'{"id":7,"method":"x","params":{"cut', 7),
        (b'[{"id":7,"method":"x"}]', None),
        (b"{" * 100_000, None),
    ],
)
def test_odd_messages(raw: bytes, expected: Any) -> None:
    message = scanned(raw)
    assert (message.id, message.is_notification, message.is_response) == (expected, False, False)


def test_a_response_is_distinguished_from_a_request() -> None:
    assert scanned(b'{"id":1,"result":{"method":"x"}}').is_response
    assert scanned(b'{"id":1,"error":{"code":1}}').is_response
