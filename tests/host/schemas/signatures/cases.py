"""Signatures of one parameter and of results, by type."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import re
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import AnyUrl, Base64Bytes, ByteSize, Discriminator, Field, Json, SecretStr, Tag

from tests.host.schemas.signatures import types_of_tests as t
from tests.host.schemas.signatures.table import NONE, gives, takes

WHEN = datetime.datetime(2026, 7, 28, 10, 30, tzinfo=datetime.UTC)
ONE = "00000000-0000-0000-0000-000000000001"


def shape(value: Any) -> str:
    return "flat" if "side" in (value if isinstance(value, dict) else vars(value)) else "round"


Shape = Annotated[Annotated[t.Flat, Tag("flat")] | Annotated[t.Round, Tag("round")], Discriminator(shape)]

SCALARS = [
    takes(str, "x", 5, None),
    takes(int, 4, 2**70, 4.0, "4", "x", 4.5, True, None),
    takes(float, 1.5, 3, "1.5", "x", "nan", False),
    takes(bool, True, "true", "no", 1, 2, "perhaps"),
    takes(None, None, 0),
    takes(Any, None, {"a": [1, True]}),
    takes(t.UserId, 5, "x"),
    takes(int, 4, "4", 4.0, True, strict=True, name="int, strict"),
    takes(t.Color, "red", "green", strict=True, name="Enum, strict"),
    takes(tuple[int, ...], [1], ["1"], strict=True, name="tuple, strict"),
    takes(Annotated[int, Field(ge=1, le=5)], 5, 0, 6, name="ge, le"),
    takes(Annotated[int, Field(multiple_of=5)], 10, 7, name="multiple_of"),
    takes(Annotated[str, Field(min_length=1, max_length=2)], "a", "", "abc", name="length"),
    takes(Annotated[str, Field(pattern="^[a-z]+$")], "a", "A", name="pattern"),
    takes(Annotated[int | None, Field(ge=1)], None, 1, 0, name="limited or None"),
    takes(Annotated[str, Field(description="what it is", title="It", examples=["x"])], "x", name="told"),
    takes(Literal["a", "b"], "b", "c", 1),
    takes(Literal["a", 1, True, None], "a", 1, True, None, "b"),  # noqa: PYI061
    takes(Literal[t.Unit.FOOT], "ft", "m"),
    takes(t.Color, "red", "RED", 1),
    takes(t.Level, 2, "2", 3, True),
    takes(t.Right, 1, 5, 0, 8, "READ"),
    takes(t.Mode, 3, 4, "X"),
    takes(t.Color, NONE, name="Enum by default", default=t.Color.BLUE),
    takes(Optional[int], 1, None, "x", name="Optional[int]"),  # Python 3.14 shows it as int | None
    takes(Union[int, None, str], 1, "1", None, [], name="Union[int, NoneType, str]"),
    takes(float | bool, 1.5, True, "x"),
    takes(Annotated[int | None, "how many"], None, NONE, name="optional with a default", default=None),
    takes(int | None, NONE, None, name="Optional of another default", default=3),
]

STRINGS_IN_JSON = [
    takes(datetime.date, "2026-07-28", 86400, "yesterday", True),
    takes(datetime.datetime, "2026-07-28T10:30:00Z", 0, "soon"),
    takes(datetime.timedelta, "P1DT2H", 90, "long", True),
    takes(datetime.date, "2026-07-28", 0, strict=True, name="date, strict"),
    takes(uuid.UUID, ONE, "canary", 1),
    takes(decimal.Decimal, "1.50", 2, "x", "NaN", True),
    takes(bytes, "+//+", "-__-", "abc", 1),
    takes(dict[str, bytes | str], {"a": "+//+", "b": "hi!"}, name="bytes or text"),
    takes(Annotated[bytes, Field(min_length=2, max_length=3)], "+//+", "+w==", name="bytes of a length"),
    takes(Base64Bytes, "+//+", name="Base64Bytes"),
    takes(pathlib.Path, "a/b", 1),
    takes(AnyUrl, "https://example.com/a", "canary", 1, name="AnyUrl"),
    takes(re.Pattern[str], "^a+$", "a(", 1, name="Pattern"),
    takes(SecretStr, "x", 1, name="SecretStr"),
    takes(ByteSize, 1024, "1KiB", "canary", name="ByteSize"),
    takes(datetime.date, NONE, name="date by default", default=datetime.date(2026, 7, 28)),
    takes(float, NONE, name="infinity by default", default=float("inf")),
    takes(Annotated[float, Field(description="at most")], NONE, name="infinity by default, told", default=float("inf")),
]

CONTAINERS = [
    takes(list, [1, "a"], {}, "ab"),
    takes(list[int], [1, 2], [], ["1"], ["x", 1, None], [True], 1),
    takes(list[Annotated[int, Field(ge=1)]], [1], [1, 0], name="list of limited"),
    takes(set[int], [1], [1, 1], ["x"]),
    takes(tuple[int, str], [1, "a"], [1], [1, "a", 2], ["x", "a"]),
    takes(Sequence[int], [1], "12", {}),
    takes(dict[str, int], {"a": 1}, {"a": "x"}, {"a": True}, []),
    takes(dict[int, str], {"1": "a"}, {"x": "a"}),
    takes(dict[t.Level, int], {"2": 1}, {"3": 1}),
    takes(dict[Literal["a", "b"], int], {"a": 1}, {"c": 1}),
    takes(Mapping[str, int], {"a": 1}, []),
    takes(Json[list[int]], "[1]", "[", '["x"]', [1], name="Json"),
    takes(t.JsonValue, {"a": [1, None, {"b": "c"}]}, 1.5, name="a recursive alias"),
    takes(set[int], NONE, name="set by default", default={1}),
]

OBJECTS = [
    takes(t.Options, {"depth": 1}, {"depth": 1, "label": "x"}, {}, {"depth": "x"}, {"depth": 1, "dept": 2}),
    takes(t.Page[t.Options], {"items": [{"depth": 1}]}, {"items": [{}]}),
    takes(t.Node, {"name": "a", "children": [{"name": "b", "children": []}]}, {"name": "a", "children": [{}]}),
    takes(t.Spot, [1, 2], [1], {"x": 1}, [], ["x"]),
    takes(t.Size, {"width": 1}, {"width": 1, "marks": ["a"]}, {}, {"width": "x"}, {"width": 1, "hight": 2}),
    takes(t.Point, {"x": 1}, {"x": 1, "more": 2}, {"x": -1}, {}, "1,2", None),
    takes(t.Tree, {"name": "a", "children": [{"name": "b"}]}, {"name": "a", "children": [{"name": 1}]}),
    takes(t.Strict, {"number": 1, "color": "blue"}, {"number": "1"}, {"number": 1, "color": "x"}),
    takes(t.Aliased, {"userId": 1, "e-mail": "m", "phone": "5"}, {"user_id": 1, "tel": "5"}, {}),
    takes(t.Point | None, None, {"x": 1}, 1),
    takes(Annotated[t.Point, "where"], {"x": 1}, name="described model"),
    takes(t.Point, NONE, name="model by default", default=t.Point(x=1)),
    takes(t.Pet, {"kind": "cat", "lives": 9}, {"kind": "cow"}, {}, {"kind": "cat"}, name="discriminated"),
    takes(t.Cat | t.Dog, {"kind": "dog", "tricks": []}, {"kind": "dog"}, {"kind": "cow"}),
    takes(Shape, {"radius": 1}, {"side": 1}, {}, name="discriminated by a function"),
    takes(Union[t.Point, str, None], {"x": 1}, "1,2", None, {"x": -1}, 5, name="Union[Point, str, NoneType]"),
    takes(int | list[int] | dict[str, int], 1, [1], {"a": 1}, [None], {"a": []}, None),
]

RESULTS = [
    gives(str, "text"),
    gives(None, None),
    gives(Any, {"a": {1}}),
    gives(bytes, b"\xff"),
    gives(int, 2**70, name="-> a large int"),
    gives(Annotated[int, Field(ge=0, description="how many")], 3, name="-> described"),
    gives(str | None, "x", name="-> text or None"),
    gives(t.Color, t.Color.RED),
    gives(t.Right, t.Right.READ | t.Right.OWN),
    gives(t.Pair, t.Pair.LEFT),
    gives(list[int], (1, 2)),
    gives(tuple[int, str], (1, "a")),
    gives(frozenset[t.Level], frozenset({t.Level.LOW})),
    gives(Sequence[t.Point], [t.Point(x=1)]),
    gives(dict[str, Any], {"a": [None, WHEN]}),
    gives(dict[t.Level, int], {t.Level.HIGH: 1}),
    gives(datetime.datetime, WHEN),
    gives(decimal.Decimal, decimal.Decimal("1.50")),
    gives(list[bytes | str], [b"\xfb\xff\xfe", "hi!"]),
    gives(t.Blob, {"data": b"\xfb\xff", "more": [{"data": b""}]}),
    gives(dict[str, Any], {"a": [b"\xfb\xff"]}, name="-> bytes among any values"),
    gives(list[dict[str, Any]], [{"a": b"\xfb\xff"}], name="-> bytes among any values of objects"),
    gives(AnyUrl, AnyUrl("https://example.com/a"), name="-> AnyUrl"),
    gives(SecretStr, SecretStr("canary"), name="-> SecretStr"),
    gives(t.Page[t.Point], {"items": [t.Point(x=1)]}),
    gives(t.Node, {"name": "a", "children": [{"name": "b", "children": []}]}),
    gives(t.Spot, t.Spot(1)),
    gives(t.Chain, t.Chain(1, t.Chain(2))),
    gives(t.Point, {"x": 1}, name="-> a model, of a dict"),
    gives(t.Point | None, t.Point(x=1)),
    gives(t.Aliased, t.Aliased(user_id=3)),
    gives(t.Circle, t.Circle(radius=2)),
    gives(t.Hidden, t.Hidden(shown=1)),
    gives(t.Pet, t.Dog(kind="dog", tricks=["sit"]), name="-> discriminated"),
    gives(Awaitable[int], 5),
    gives(list[Mapping[t.Unit, Sequence[t.Point | None]]], [{t.Unit.FOOT: [None, t.Point(x=1)]}]),
]

CASES = [*SCALARS, *STRINGS_IN_JSON, *CONTAINERS, *OBJECTS, *RESULTS]
