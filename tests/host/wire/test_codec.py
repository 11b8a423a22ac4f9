"""JSON: reading is strict, writing never fails for data, and results keep the JSON of their values."""

from __future__ import annotations

import contextlib
import copy
import datetime
import decimal
import json
import math
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import ToolResult
from pegboard.plugin import decode, encode
from pegboard.wire.codec import MAX_DEPTH, encode_finite
from pegboard.wire.encoded_result import EncodedResult

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


DECODED = {"a": [1, {"b": "é"}]}
WRITTEN = '{"a":[1,{"b":"é"}]}'.encode()
DEEP = b"[" * 220 + b"]" * 220


def encoded(value: bytes = WRITTEN) -> EncodedResult:
    return EncodedResult.of(value, structured=True)


READERS: dict[str, Callable[[EncodedResult], Any]] = {
    "attribute": lambda result: result.value,
    "index": lambda result: result[0],
    "iterator": lambda result: next(iter(result)),
}


@pytest.mark.parametrize("reader", READERS)
def test_the_value_is_decoded_when_it_is_read(reader: str) -> None:
    assert READERS[reader](encoded()) == DECODED


def test_it_equals_a_tool_result() -> None:
    result = ToolResult(DECODED, structured=True)
    assert encoded() == result
    assert repr(encoded()) == repr(result)
    assert copy.deepcopy(encoded()) == result
    assert encoded()._replace(is_error=True) == result._replace(is_error=True)
    assert hash(encoded()._replace(value=1)) == hash(result._replace(value=1))


def test_a_changed_value_is_encoded_again() -> None:
    result = encoded()
    assert result.json is WRITTEN
    result.value["a"] = 2
    assert result.json == b'{"a":2}'


def test_a_value_of_many_levels_can_be_read() -> None:
    assert encoded(DEEP).json == DEEP
    assert len(encoded(DEEP).value) == 1
