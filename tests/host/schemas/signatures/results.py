"""Signatures of results: their schemas, and the values that are sent."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional

from pydantic import AnyUrl, Field, SecretStr

from tests.host.schemas.signatures import types_of_tests as t
from tests.host.schemas.signatures.table import gives

WHEN = datetime.datetime(2026, 7, 28, 10, 30, tzinfo=datetime.UTC)


def words() -> Any:
    yield "a"


CASES = [
    gives(str, "text"),
    gives(None, None),
    gives(Any, {"a": {1}}),
    gives(object, 5),
    gives(bytes, b"\xff"),
    gives(Annotated[str, "the text"], "x"),
    gives(int, 5),
    gives(int, 2**70, name="-> a large int"),
    gives(float, 1.5),
    gives(bool, True),
    gives(t.UserId, 5),
    gives(Annotated[int, Field(ge=0, description="how many")], 3, name="-> described"),
    gives(Optional[int], None),
    gives(Optional[str], None),
    gives(str | None, "x", name="-> text or None"),
    gives(int | str, "x"),
    gives(Literal["a", 1, None], None),  # noqa: PYI061
    gives(t.Color, t.Color.RED),
    gives(t.Level, t.Level.HIGH),
    gives(t.Unit, t.Unit.FOOT),
    gives(t.Right, t.Right.READ | t.Right.OWN),
    gives(t.Mode, t.Mode(5)),
    gives(t.Pair, t.Pair.LEFT),
    gives(list, [1, "a"]),
    gives(list[int], (1, 2)),
    gives(list[list[t.Color]], [[t.Color.RED]]),
    gives(tuple[int, str], (1, "a")),
    gives(tuple[int, ...], (1, 2)),
    gives(set[int], {1}),
    gives(frozenset[t.Level], frozenset({t.Level.LOW})),
    gives(collections.deque[int], collections.deque([1])),
    gives(Sequence[t.Point], [t.Point(x=1)]),
    gives(dict, {"a": 1}),
    gives(dict[str, Any], {"a": [None, WHEN]}),
    gives(dict[str, int], {"a": 1}),
    gives(dict[int, str], {1: "a"}),
    gives(dict[t.Level, int], {t.Level.HIGH: 1}),
    gives(dict[t.Color, int], {t.Color.RED: 1}),
    gives(dict[datetime.date, int], {WHEN.date(): 1}),
    gives(Mapping[str, t.Point], {"a": t.Point(x=1)}),
    gives(t.JsonValue, {"a": [1, None]}, name="-> a recursive alias"),
    gives(datetime.date, WHEN.date()),
    gives(datetime.datetime, WHEN),
    gives(datetime.time, WHEN.time()),
    gives(datetime.timedelta, datetime.timedelta(hours=26)),
    gives(uuid.UUID, uuid.UUID(int=1)),
    gives(decimal.Decimal, decimal.Decimal("1.50")),
    gives(fractions.Fraction, fractions.Fraction(3, 4)),
    gives(complex, 1 + 2j),
    gives(list[bytes], [b"abc"]),
    gives(pathlib.Path, pathlib.Path("a/b")),
    gives(AnyUrl, AnyUrl("https://example.com/a"), name="-> AnyUrl"),
    gives(ipaddress.IPv4Address, ipaddress.IPv4Address("192.0.2.1")),
    gives(re.Pattern[str], re.compile("^a$"), name="-> Pattern"),
    gives(SecretStr, SecretStr("canary"), name="-> SecretStr"),
    gives(t.Options, {"depth": 1}),
    gives(t.Loose, {"size": 1}),
    gives(t.Page[t.Point], {"items": [t.Point(x=1)]}),
    gives(t.Node, {"name": "a", "children": [{"name": "b", "children": []}]}),
    gives(list[t.Options], [{"depth": 1, "label": "x"}]),
    gives(t.Spot, t.Spot(1)),
    gives(t.Size, t.Size(2)),
    gives(t.Frozen, t.Frozen(x=1)),
    gives(t.Chain, t.Chain(1, t.Chain(2))),
    gives(t.Point, t.Point(x=1)),
    gives(t.Point, {"x": 1}, name="-> a model, of a dict"),
    gives(Optional[t.Point], None),
    gives(t.Point | None, t.Point(x=1)),
    gives(t.Line, t.Line(start=t.Point(x=1), end=t.Point(x=2))),
    gives(t.Tree, t.Tree(name="a", children=[t.Tree(name="b")])),
    gives(t.Box[int], t.Box[int](content=3)),
    gives(t.Names, t.Names(["a"])),
    gives(t.Scores, t.Scores({"a": 1})),
    gives(t.Aliased, t.Aliased(user_id=3)),
    gives(t.Circle, t.Circle(radius=2)),
    gives(t.Hidden, t.Hidden(shown=1)),
    gives(t.Open, t.Open.model_validate({"x": 1, "y": [2]})),
    gives(t.Documented, t.Documented(a=1)),
    gives(t.Pet, t.Dog(kind="dog", tricks=["sit"]), name="-> discriminated"),
    gives(t.Cat | t.Dog, t.Cat(kind="cat", lives=9)),
    gives(list[t.Cat | t.Dog], [t.Cat(kind="cat", lives=9)]),
    gives(Awaitable[int], 5),
    gives(list[Mapping[t.Unit, Sequence[t.Point | None]]], [{t.Unit.FOOT: [None, t.Point(x=1)]}]),
]
