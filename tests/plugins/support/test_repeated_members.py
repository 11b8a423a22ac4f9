"""JSON whose objects repeat members."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.support.repeated_members import REPEATED_MEMBERS, decode_message


@pytest.mark.parametrize(
    ("data", "repeated"),
    [
        (b'{"id":1,"id":2}', True),
        (b'{"params":{},"params":[]}', True),
        (b'{"id" :1,"id"\t:2}', True),
        (b'{"\\u0069\\u0064":1,"id":2}', True),
        (b'{"id":1,"params":{"id":[{"id":1}]},"id":2}', True),
        (b'[{"id":1,"id":2},{"id":3}]', True),
        (b'[{"id":1},{"id":3,"i\\u0064":3}]', True),
        (b"{}", False),
        (b'{"id":1,"params":{"id":2,"method":"b","params":{"id":3}}}', False),
        (b'{"result":{"a":{"id":1,"id":2}},"id":1}', False),
        (b'{"params":{"a":[{"id":1},{"id":1}],"u":"x: \\"y\\": z"},"id":1}', False),
        (b'{"id":1,"x":"\\\\u0061"}', False),
        (b"1", False),
        (b'[{"id":1,"params":{"id":1}},[{"id":1,"id":2}],5]', False),
    ],
)
def test_an_envelope_with_a_repeated_member_is_found(data: bytes, repeated: bool) -> None:
    assert decode_message(data) == (json.loads(data), repeated)


@pytest.mark.parametrize(
    "params",
    [
        b'{"a":"x:y","a"\r:1}',
        b'{"a:b":1,"a:\\u0062":1}',
        b'{"a":1,"a":"\\u003a"}',
        b'{"a":1,"a":"\\u003A"}',
        b'[{"":1,"":2}]',
    ],
)
def test_params_with_a_repeated_member_are_replaced(params: bytes) -> None:
    once, twice = {"params": {"b": "a: b"}}, {"id": 1, "params": REPEATED_MEMBERS}
    assert decode_message(b'{"id":1,"params":%b}' % params) == (twice, False)
    assert decode_message(b'[{"params":{"b":"a: b"}},5,{"id":1,"params":%b}]' % params) == ([once, 5, twice], False)


OBJECTS = st.recursive(
    st.one_of(st.integers(), st.text(st.sampled_from(':"\\ \na'))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(st.tuples(st.sampled_from("ab:"), inner), max_size=3)
    ),
)


def written(value: Any, space: str) -> str:
    """Return JSON in which lists of pairs are objects."""
    if isinstance(value, list) and all(isinstance(item, tuple) for item in value):
        members = ",".join(f"{json.dumps(name)}{space}:{written(item, space)}" for name, item in value)
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{','.join(written(item, space) for item in value)}]"
    return json.dumps(value)


def repeats(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    names = [item[0] for item in value if isinstance(item, tuple)]
    return len(set(names)) < len(names) or any(repeats(item[1] if isinstance(item, tuple) else item) for item in value)


@given(OBJECTS, st.sampled_from(["", " ", "\n\t"]))
def test_repeated_members_of_params_are_found_at_any_depth(value: Any, space: str) -> None:
    message, repeated = decode_message(f'{{"id":1,"params":{written(value, space)}}}'.encode())
    assert (message["params"] is REPEATED_MEMBERS, repeated) == (repeats(value), False)


@pytest.mark.parametrize("last", [b'{"c":1e400}', b'{"b":-1e400}', b"[1e400]"])
def test_a_number_out_of_range_in_a_message_is_rejected(last: bytes) -> None:
    with pytest.raises(ValueError, match="out of range"):
        decode_message(b'{"id":1,"params":[0.5,{"a":1.5},%b]}' % last)
