"""Signatures of objects: typed dicts, named tuples, dataclasses and models."""

from __future__ import annotations

from typing import Annotated, Any, Optional, Union

from pydantic import Discriminator, Field, Tag

from tests.host.schemas.signatures.table import NONE, takes
from tests.host.schemas.signatures.types_of_tests import (
    Aliased,
    Box,
    Cat,
    Chain,
    Circle,
    Closed,
    Counted,
    Crate,
    Documented,
    Dog,
    Even,
    Flat,
    Frozen,
    Functional,
    Hidden,
    Line,
    Loose,
    More,
    Names,
    Node,
    Open,
    Options,
    Outer,
    Owner,
    Page,
    Pet,
    Point,
    Positive,
    Round,
    Scores,
    Sealed,
    Sealing,
    Size,
    Span,
    Spot,
    Stone,
    Strict,
    Tokens,
    Tree,
)


def shape(value: Any) -> str:
    return "flat" if "side" in (value if isinstance(value, dict) else vars(value)) else "round"


Shape = Annotated[Annotated[Flat, Tag("flat")] | Annotated[Round, Tag("round")], Discriminator(shape)]

CASES = [
    # typed dicts
    takes(Options, {"depth": 1}, {"depth": 1, "label": "x"}, {}, {"depth": "x"}, {"depth": 1, "dept": 2}),
    takes(Loose, {"size": 1}, {"color": "x"}),
    takes(More, {"depth": 1, "extra": [1]}, {"depth": 1, "extra": [1, 2, 3]}, {"depth": 1}),
    takes(Outer, {"inner": {"depth": 1}, "others": []}, {"inner": {}, "others": [{}]}),
    takes(Closed, {"x": 1}, {"x": 1, "y": 2}),
    takes(Page[Options], {"items": [{"depth": 1}]}, {"items": [{}]}),
    takes(Node, {"name": "a", "children": [{"name": "b", "children": []}]}, {"name": "a", "children": [{}]}),
    takes(Sealed, {"x": 1}, {"x": 1, "y": 2}),
    takes(Functional, {"from": "a", "class": 1}, {"class": 1}),
    takes(list[Options], [{"depth": 1}], [{"depth": "x"}]),
    takes(dict[str, Options], {"a": {"depth": 1}}, {"a": {}}),
    takes(Optional[Options], None, {"depth": 1}, {}),
    # tuples with names
    takes(Spot, [1, 2], [1], {"x": 1}, [], ["x"]),
    takes(list[Spot], [[1]], [[True]]),
    # dataclasses
    takes(Size, {"width": 1}, {"width": 1, "marks": ["a"]}, {}, {"width": "x"}, {"width": 1, "hight": 2}),
    takes(Frozen, {"x": 1}, {}),
    takes(Positive, {"x": 1}, {"x": 0}),
    takes(Crate[int], {"content": 1}, {"content": "x"}),
    takes(Chain, {"value": 1, "rest": {"value": 2}}, {"value": 1, "rest": {}}),
    # models
    takes(Point, {"x": 1}, {"x": 1, "more": 2}, {"x": -1}, {}, "1,2", None),
    takes(Line, {"start": {"x": 1}, "end": {"x": 2}}, {"start": {"x": True}, "end": {"x": 2}}, {"start": {}, "end": 5}),
    takes(Tree, {"name": "a", "children": [{"name": "b"}]}, {"name": "a", "children": [{"name": 1}]}),
    takes(Box[int], {"content": 1}, {"content": "x"}),
    takes(Box[Point], {"content": {"x": 1}}, {"content": {}}),
    takes(Box, {"content": [1]}, name="Box of anything"),
    takes(Strict, {"number": 1, "color": "blue"}, {"number": "1"}, {"number": 1, "color": "x"}),
    takes(Sealing, {"x": 1}, {"x": 1, "xx": 1}),
    takes(Open, {"x": 1, "y": [2]}, {"y": 1}),
    takes(Stone, {"x": 1}),
    takes(Names, ["a"], [1]),
    takes(Scores, {"a": 1}, {"a": "x"}),
    takes(Aliased, {"userId": 1, "e-mail": "m", "phone": "5"}, {"user_id": 1, "tel": "5"}, {}),
    takes(Even, {"number": 4}, {"number": 3}, {"number": "x"}),
    takes(Span, {"first": 1, "last": 2}, {"first": 2, "last": 1}),
    takes(Circle, {"radius": 2}),
    takes(Hidden, {"shown": 1, "secret": "x"}),
    takes(Documented, {"a": 1}),
    takes(Counted, {}),
    takes(Tokens, {"values": {"a": [1]}, "anything": {"b": None}}, {"values": {"a": 1}}),
    takes(list[Point], [{"x": 1}], [{"x": 1}, {"y": 1}]),
    takes(dict[str, Point], {"a": {"x": 1}}, {"a": 1}),
    takes(Point | None, None, {"x": 1}, 1),
    takes(Annotated[Point, "where"], {"x": 1}, name="described model"),
    takes(Point, NONE, name="model by default", default=Point(x=1)),
    takes(Size, NONE, name="dataclass by default", default=Size(1)),
    # unions of objects
    takes(
        Pet,
        {"kind": "cat", "lives": 9},
        {"kind": "dog", "tricks": []},
        {"kind": "cow"},
        {},
        {"kind": "cat"},
        name="discriminated",
    ),
    takes(list[Pet], [{"kind": "cat", "lives": 9}], [{"kind": "cat"}], name="list of discriminated"),
    takes(Owner, {"pets": [{"kind": "dog", "tricks": ["sit"]}]}, {"pets": [{"kind": "dog"}]}),
    takes(Cat | Dog, {"kind": "dog", "tricks": []}, {"kind": "dog"}, {"kind": "cow"}),
    takes(Flat | Round, {"radius": 1}, {"side": 1}, {}, {"side": "x"}),
    takes(Shape, {"radius": 1}, {"side": 1}, {}, name="discriminated by a function"),
    takes(Union[Point, str, None], {"x": 1}, "1,2", None, {"x": -1}, 5),
    takes(Point | list[Point], {"x": 1}, [{"x": 1}], [{}], {}),
    takes(int | list[int] | dict[str, int], 1, [1], {"a": 1}, [None], {"a": []}, None),
    takes(Size | Options, {"width": 1}, {"depth": 1}, {"depth": "x"}),
    takes(
        Annotated[list[Annotated[Point, Field(description="one")]], Field(description="all", min_length=1)],
        [{"x": 1}],
        [],
        name="described within",
    ),
]
