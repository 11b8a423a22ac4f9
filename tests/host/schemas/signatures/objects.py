"""Signatures of objects: typed dicts, named tuples, dataclasses and models."""

from __future__ import annotations

from typing import Annotated, Any, Optional, Union

from pydantic import Discriminator, Field, Tag

from tests.host.schemas.signatures import types_of_tests as t
from tests.host.schemas.signatures.table import NONE, takes


def shape(value: Any) -> str:
    return "flat" if "side" in (value if isinstance(value, dict) else vars(value)) else "round"


Shape = Annotated[Annotated[t.Flat, Tag("flat")] | Annotated[t.Round, Tag("round")], Discriminator(shape)]

CASES = [
    # typed dicts
    takes(t.Options, {"depth": 1}, {"depth": 1, "label": "x"}, {}, {"depth": "x"}, {"depth": 1, "dept": 2}),
    takes(t.Loose, {"size": 1}, {"color": "x"}),
    takes(t.More, {"depth": 1, "extra": [1]}, {"depth": 1, "extra": [1, 2, 3]}, {"depth": 1}),
    takes(t.Outer, {"inner": {"depth": 1}, "others": []}, {"inner": {}, "others": [{}]}),
    takes(t.Closed, {"x": 1}, {"x": 1, "y": 2}),
    takes(t.Page[t.Options], {"items": [{"depth": 1}]}, {"items": [{}]}),
    takes(t.Node, {"name": "a", "children": [{"name": "b", "children": []}]}, {"name": "a", "children": [{}]}),
    takes(t.Sealed, {"x": 1}, {"x": 1, "y": 2}),
    takes(t.Functional, {"from": "a", "class": 1}, {"class": 1}),
    takes(list[t.Options], [{"depth": 1}], [{"depth": "x"}]),
    takes(dict[str, t.Options], {"a": {"depth": 1}}, {"a": {}}),
    takes(Optional[t.Options], None, {"depth": 1}, {}),
    # tuples with names
    takes(t.Spot, [1, 2], [1], {"x": 1}, [], ["x"]),
    takes(list[t.Spot], [[1]], [[True]]),
    # dataclasses
    takes(t.Size, {"width": 1}, {"width": 1, "marks": ["a"]}, {}, {"width": "x"}, {"width": 1, "hight": 2}),
    takes(t.Frozen, {"x": 1}, {}),
    takes(t.Positive, {"x": 1}, {"x": 0}),
    takes(t.Crate[int], {"content": 1}, {"content": "x"}),
    takes(t.Chain, {"value": 1, "rest": {"value": 2}}, {"value": 1, "rest": {}}),
    # models
    takes(t.Point, {"x": 1}, {"x": 1, "more": 2}, {"x": -1}, {}, "1,2", None),
    takes(
        t.Line, {"start": {"x": 1}, "end": {"x": 2}}, {"start": {"x": True}, "end": {"x": 2}}, {"start": {}, "end": 5}
    ),
    takes(t.Tree, {"name": "a", "children": [{"name": "b"}]}, {"name": "a", "children": [{"name": 1}]}),
    takes(t.Box[int], {"content": 1}, {"content": "x"}),
    takes(t.Box[t.Point], {"content": {"x": 1}}, {"content": {}}),
    takes(t.Box, {"content": [1]}, name="Box of anything"),
    takes(t.Strict, {"number": 1, "color": "blue"}, {"number": "1"}, {"number": 1, "color": "x"}),
    takes(t.Sealing, {"x": 1}, {"x": 1, "xx": 1}),
    takes(t.Open, {"x": 1, "y": [2]}, {"y": 1}),
    takes(t.Stone, {"x": 1}),
    takes(t.Names, ["a"], [1]),
    takes(t.Scores, {"a": 1}, {"a": "x"}),
    takes(t.Aliased, {"userId": 1, "e-mail": "m", "phone": "5"}, {"user_id": 1, "tel": "5"}, {}),
    takes(t.Even, {"number": 4}, {"number": 3}, {"number": "x"}),
    takes(t.Span, {"first": 1, "last": 2}, {"first": 2, "last": 1}),
    takes(t.Circle, {"radius": 2}),
    takes(t.Hidden, {"shown": 1, "secret": "x"}),
    takes(t.Documented, {"a": 1}),
    takes(t.Counted, {}),
    takes(t.Tokens, {"values": {"a": [1]}, "anything": {"b": None}}, {"values": {"a": 1}}),
    takes(list[t.Point], [{"x": 1}], [{"x": 1}, {"y": 1}]),
    takes(dict[str, t.Point], {"a": {"x": 1}}, {"a": 1}),
    takes(t.Point | None, None, {"x": 1}, 1),
    takes(Annotated[t.Point, "where"], {"x": 1}, name="described model"),
    takes(t.Point, NONE, name="model by default", default=t.Point(x=1)),
    takes(t.Size, NONE, name="dataclass by default", default=t.Size(1)),
    # unions of objects
    takes(
        t.Pet,
        {"kind": "cat", "lives": 9},
        {"kind": "dog", "tricks": []},
        {"kind": "cow"},
        {},
        {"kind": "cat"},
        name="discriminated",
    ),
    takes(list[t.Pet], [{"kind": "cat", "lives": 9}], [{"kind": "cat"}], name="list of discriminated"),
    takes(t.Owner, {"pets": [{"kind": "dog", "tricks": ["sit"]}]}, {"pets": [{"kind": "dog"}]}),
    takes(t.Cat | t.Dog, {"kind": "dog", "tricks": []}, {"kind": "dog"}, {"kind": "cow"}),
    takes(t.Flat | t.Round, {"radius": 1}, {"side": 1}, {}, {"side": "x"}),
    takes(Shape, {"radius": 1}, {"side": 1}, {}, name="discriminated by a function"),
    takes(Union[t.Point, str, None], {"x": 1}, "1,2", None, {"x": -1}, 5),
    takes(t.Point | list[t.Point], {"x": 1}, [{"x": 1}], [{}], {}),
    takes(int | list[int] | dict[str, int], 1, [1], {"a": 1}, [None], {"a": []}, None),
    takes(t.Size | t.Options, {"width": 1}, {"depth": 1}, {"depth": "x"}),
    takes(
        Annotated[list[Annotated[t.Point, Field(description="one")]], Field(description="all", min_length=1)],
        [{"x": 1}],
        [],
        name="described within",
    ),
]
