"""JSON: reading is strict, writing never fails for data."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import math
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.plugin import REPEATED_MEMBERS, decode, decode_message, encode
from pegboard.wire.codec import MAX_DEPTH, encode_finite

TEXT = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=30,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(st.characters()), inner) | st.sets(TEXT),
    max_leaves=20,
)

# --- reading


@pytest.mark.requirement("STDIO-01")
@given(JSON)
def test_json_is_read_and_written_as_others_do_and_on_one_line(value: Any) -> None:
    written = encode(value)
    assert decode(written) == decode(json.dumps(value).encode()) == json.loads(written) == value
    assert b"\n" not in written
    assert b"\r" not in written


@given(st.binary())
def test_any_bytes_are_read_or_rejected_with_a_value_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"NaN", b"[NaN]", b"-Infinity", b"1e400", b'{"a": [1, {"b": 1e400}]}', b"1" + b"0" * 400 + b".0", b"9" * 5000,
        b"01", b"[1,]", b"{'a':1}", b"{} {}", b"", b"tru", b'"a\nb"', b"\x00", b"// no\n1", b'"\\ud800"',
        b'"\\udc00\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b"\xef\xbb\xbf{}", "{}".encode("utf-16"),
    ],
)  # fmt: skip
def test_invalid_json_is_rejected(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        decode(data)
    assert "set_int_max_str_digits" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"9" * 4300, 10**4300 - 1), (b"-" + b"9" * 400, 1 - 10**400), (b"-0", 0), (b'"\\ud83d\\ude00"', "😀")],
    ids=["long", "negative", "zero", "surrogate pair"],
)
def test_integers_are_exact_and_a_pair_of_surrogates_is_one_character(data: bytes, value: Any) -> None:
    assert (decode(data), type(decode(data))) == (value, type(value))


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_json_is_read_up_to_the_limit_of_depth(opening: bytes, closing: bytes) -> None:
    assert MAX_DEPTH == 200
    levels = MAX_DEPTH // len(closing)
    assert decode(opening * levels + b"1" + closing * levels)
    for data in (opening * 100_000, *(opening * deeper + b"1" + closing * deeper for deeper in (levels + 1, 100_000))):
        with pytest.raises(ValueError, match="recursion limit"):
            decode(data)


# --- repeated members


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
        b'{"a":1,"a":2}',
        b'{"a" :1,"a" :1}',
        b'{"a":":","a":1}',
        b'{"a":"x:y","a"\r:1}',
        b'{"a:b":1,"a:\\u0062":1}',
        b'{"a":1,"a":"\\u003a"}',
        b'{"a":1,"a":"\\u003A"}',
        b'{"x":[[{"url":"http://a/","a":{"id":1,"id":2}}]]}',
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


# --- writing


@pytest.mark.requirement("MSG-01")
@given(ANYTHING)
def test_every_value_becomes_json(value: Any) -> None:
    json.loads(encode(value), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\udc00\ud800 \ud83d\ude00", '"\ufffd\ufffd 😀"'),
        ({"\ud800": ["\udfff", {"a": ("\udc80",)}]}, '{"\ufffd":["\ufffd",{"a":["\ufffd"]}]}'),
        ({"a": "\ud800", "b": b"x", "c": math.nan}, '{"a":"\ufffd","b":"eA==","c":null}'),
        ([{"\ud800"}, frozenset(("\udc00",))], '[["\ufffd"],["\ufffd"]]'),
        ({"a": [math.nan, math.inf, -math.inf, 1.5]}, '{"a":[null,null,null,1.5]}'),
        ({"a": b"\xff\xfe\xfb"}, '{"a":"__77"}'),
        (datetime.date(2026, 7, 28), '"2026-07-28"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        ({1: (2, 2**64)}, '{"1":[2,18446744073709551616]}'),
        ("\x00\n\u2028é", '"\\u0000\\n\u2028é"'),
    ],
)
def test_the_json_of_common_values_and_lone_surrogates(value: Any, written: str) -> None:
    assert encode(value).decode() == written


def chain(levels: int, end: Any) -> Any:
    for _ in range(levels):
        end = [end]
    return end


def test_a_value_without_a_json_form_is_a_type_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in ({object()}, [{"a": len}], loop, chain(10_000, 1), chain(10_000, "\ud800"), ["\ud800", loop]):
        with pytest.raises(TypeError):
            encode(value)


@pytest.mark.parametrize("number", [1.5, math.inf])
def test_a_value_that_contains_itself_is_rejected(number: float) -> None:
    value: dict[str, Any] = {"number": number}
    value["list"] = [value]
    with pytest.raises((TypeError, ValueError), match=r"Circular|infinities"):
        encode_finite(value)
