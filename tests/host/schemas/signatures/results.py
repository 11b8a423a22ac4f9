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

from tests.host.schemas.signatures.table import gives
from tests.host.schemas.signatures.types_of_tests import (
    Aliased,
    Box,
    Cat,
    Chain,
    Circle,
    Color,
    Documented,
    Dog,
    Frozen,
    Hidden,
    JsonValue,
    Level,
    Line,
    Loose,
    Mode,
    Names,
    Node,
    Open,
    Options,
    Page,
    Pair,
    Pet,
    Point,
    Right,
    Scores,
    Size,
    Spot,
    Tree,
    Unit,
    UserId,
)

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
    gives(UserId, 5),
    gives(Annotated[int, Field(ge=0, description="how many")], 3, name="-> described"),
    gives(Optional[int], None),
    gives(Optional[str], None),
    gives(str | None, "x", name="-> text or None"),
    gives(int | str, "x"),
    gives(Literal["a", 1, None], None),  # noqa: PYI061
    gives(Color, Color.RED),
    gives(Level, Level.HIGH),
    gives(Unit, Unit.FOOT),
    gives(Right, Right.READ | Right.OWN),
    gives(Mode, Mode(5)),
    gives(Pair, Pair.LEFT),
    gives(list, [1, "a"]),
    gives(list[int], (1, 2)),
    gives(list[list[Color]], [[Color.RED]]),
    gives(tuple[int, str], (1, "a")),
    gives(tuple[int, ...], (1, 2)),
    gives(set[int], {1}),
    gives(frozenset[Level], frozenset({Level.LOW})),
    gives(collections.deque[int], collections.deque([1])),
    gives(Sequence[Point], [Point(x=1)]),
    gives(dict, {"a": 1}),
    gives(dict[str, Any], {"a": [None, WHEN]}),
    gives(dict[str, int], {"a": 1}),
    gives(dict[int, str], {1: "a"}),
    gives(dict[Level, int], {Level.HIGH: 1}),
    gives(dict[Color, int], {Color.RED: 1}),
    gives(dict[datetime.date, int], {WHEN.date(): 1}),
    gives(Mapping[str, Point], {"a": Point(x=1)}),
    gives(JsonValue, {"a": [1, None]}, name="-> a recursive alias"),
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
    gives(Options, {"depth": 1}),
    gives(Loose, {"size": 1}),
    gives(Page[Point], {"items": [Point(x=1)]}),
    gives(Node, {"name": "a", "children": [{"name": "b", "children": []}]}),
    gives(list[Options], [{"depth": 1, "label": "x"}]),
    gives(Spot, Spot(1)),
    gives(Size, Size(2)),
    gives(Frozen, Frozen(x=1)),
    gives(Chain, Chain(1, Chain(2))),
    gives(Point, Point(x=1)),
    gives(Point, {"x": 1}, name="-> a model, of a dict"),
    gives(Optional[Point], None),
    gives(Point | None, Point(x=1)),
    gives(Line, Line(start=Point(x=1), end=Point(x=2))),
    gives(Tree, Tree(name="a", children=[Tree(name="b")])),
    gives(Box[int], Box[int](content=3)),
    gives(Names, Names(["a"])),
    gives(Scores, Scores({"a": 1})),
    gives(Aliased, Aliased(user_id=3)),
    gives(Circle, Circle(radius=2)),
    gives(Hidden, Hidden(shown=1)),
    gives(Open, Open.model_validate({"x": 1, "y": [2]})),
    gives(Documented, Documented(a=1)),
    gives(Pet, Dog(kind="dog", tricks=["sit"]), name="-> discriminated"),
    gives(Cat | Dog, Cat(kind="cat", lives=9)),
    gives(list[Cat | Dog], [Cat(kind="cat", lives=9)]),
    gives(Awaitable[int], 5),
    gives(list[Mapping[Unit, Sequence[Point | None]]], [{Unit.FOOT: [None, Point(x=1)]}]),
]
