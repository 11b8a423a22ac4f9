"""Signatures of objects: typed dicts, tuples with names, dataclasses and models, which arrive as what they are."""

from __future__ import annotations

from typing import Annotated, Any, Optional, Union

from pydantic import Discriminator, Field, Tag

from tests.host.schemas.signatures.table import absent, bad, lax, ok, picky, takes
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
    takes(
        Options,
        {"$ref": "#/$defs/Options"},
        ok({"depth": 1}, "{'depth': 1}"),
        ok({"depth": 1, "label": "x"}, "{'depth': 1, 'label': 'x'}"),
        bad({}, "a.depth is required"),
        bad({"depth": "x"}, "a.depth: must be an integer"),
        bad({"depth": 1, "dept": 2}, "a.dept is not allowed; did you mean 'depth'?"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            }
        },
    ),
    takes(
        Loose,
        {"$ref": "#/$defs/Loose"},
        ok({"size": 1}, "{'size': 1}"),
        bad({"color": "x"}, "a.size is required"),
        defs={
            "Loose": {
                "additionalProperties": False,
                "properties": {"size": {"type": "integer"}, "color": {"type": "string"}},
                "required": ["size"],
                "title": "Loose",
                "type": "object",
            }
        },
    ),
    takes(
        More,
        {"$ref": "#/$defs/More"},
        ok({"depth": 1, "extra": [1]}, "{'depth': 1, 'extra': [1]}"),
        bad({"depth": 1, "extra": [1, 2, 3]}, "a.extra: must have at most 2 items"),
        bad({"depth": 1}, "a.extra is required"),
        defs={
            "More": {
                "additionalProperties": False,
                "properties": {
                    "depth": {"type": "integer"},
                    "label": {"type": "string"},
                    "extra": {"items": {"type": "integer"}, "maxItems": 2, "type": "array"},
                },
                "required": ["depth", "extra"],
                "title": "More",
                "type": "object",
            }
        },
    ),
    takes(
        Outer,
        {"$ref": "#/$defs/Outer"},
        ok({"inner": {"depth": 1}, "others": []}, "{'inner': {'depth': 1}, 'others': []}"),
        bad({"inner": {}, "others": [{}]}, "a.inner.depth is required\na.others.0.depth is required"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            },
            "Outer": {
                "additionalProperties": False,
                "properties": {
                    "inner": {"$ref": "#/$defs/Options"},
                    "others": {"items": {"$ref": "#/$defs/Options"}, "type": "array"},
                },
                "required": ["inner", "others"],
                "title": "Outer",
                "type": "object",
            },
        },
    ),
    takes(
        Closed,
        {"$ref": "#/$defs/Closed"},
        ok({"x": 1}, "{'x': 1}"),
        bad({"x": 1, "y": 2}, "a.y is not allowed"),
        defs={
            "Closed": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "title": "Closed",
                "type": "object",
            }
        },
    ),
    takes(
        Page[Options],
        {"$ref": "#/$defs/Page_Options_"},
        ok({"items": [{"depth": 1}]}, "{'items': [{'depth': 1}]}"),
        bad({"items": [{}]}, "a.items.0.depth is required"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            },
            "Page_Options_": {
                "additionalProperties": False,
                "properties": {"items": {"items": {"$ref": "#/$defs/Options"}, "type": "array"}},
                "required": ["items"],
                "title": "Page",
                "type": "object",
            },
        },
    ),
    takes(
        Node,
        {"$ref": "#/$defs/Node"},
        ok(
            {"name": "a", "children": [{"name": "b", "children": []}]},
            "{'name': 'a', 'children': [{'name': 'b', 'children': []}]}",
        ),
        bad({"name": "a", "children": [{}]}, "a.children.0.name is required\na.children.0.children is required"),
        defs={
            "Node": {
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string"},
                    "children": {"items": {"$ref": "#/$defs/Node"}, "type": "array"},
                },
                "required": ["name", "children"],
                "title": "Node",
                "type": "object",
            }
        },
    ),
    takes(
        Sealed,
        {"$ref": "#/$defs/Sealed"},
        ok({"x": 1}, "{'x': 1}"),
        bad({"x": 1, "y": 2}, "a.y is not allowed"),
        defs={
            "Sealed": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "title": "Sealed",
                "type": "object",
            }
        },
    ),
    takes(
        Functional,
        {"$ref": "#/$defs/Functional"},
        ok({"from": "a", "class": 1}, "{'from': 'a', 'class': 1}"),
        bad({"class": 1}, "a.from is required"),
        defs={
            "Functional": {
                "additionalProperties": False,
                "properties": {"from": {"type": "string"}, "class": {"type": "integer"}},
                "required": ["from"],
                "title": "Functional",
                "type": "object",
            }
        },
    ),
    takes(
        list[Options],
        {"items": {"$ref": "#/$defs/Options"}, "type": "array"},
        ok([{"depth": 1}], "[{'depth': 1}]"),
        bad([{"depth": "x"}], "a.0.depth: must be an integer"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            }
        },
    ),
    takes(
        dict[str, Options],
        {"additionalProperties": {"$ref": "#/$defs/Options"}, "type": "object"},
        ok({"a": {"depth": 1}}, "{'a': {'depth': 1}}"),
        bad({"a": {}}, "a.a.depth is required"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            }
        },
    ),
    takes(
        Optional[Options],
        {"anyOf": [{"$ref": "#/$defs/Options"}, {"type": "null"}]},
        ok(None, "None"),
        ok({"depth": 1}, "{'depth': 1}"),
        bad({}, "a.depth is required"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            }
        },
    ),
    # tuples with names
    takes(
        Spot,
        {"$ref": "#/$defs/Spot"},
        ok([1, 2], "Spot(x=1, y=2)"),
        ok([1], "Spot(x=1, y=0)"),
        lax({"x": 1}, "Spot(x=1, y=0)"),
        bad([], "a.0 is required"),
        bad(["x"], "a.0: must be an integer"),
        defs={
            "Spot": {
                "maxItems": 2,
                "minItems": 1,
                "prefixItems": [{"type": "integer"}, {"default": 0, "type": "integer"}],
                "type": "array",
            }
        },
    ),
    takes(
        list[Spot],
        {"items": {"$ref": "#/$defs/Spot"}, "type": "array"},
        ok([[1]], "[Spot(x=1, y=0)]"),
        bad([[True]], "a.0.0: must be an integer, not true or false"),
        defs={
            "Spot": {
                "maxItems": 2,
                "minItems": 1,
                "prefixItems": [{"type": "integer"}, {"default": 0, "type": "integer"}],
                "type": "array",
            }
        },
    ),
    # dataclasses
    takes(
        Size,
        {"$ref": "#/$defs/Size"},
        ok({"width": 1}, "Size(width=1, height=1, marks=[])"),
        ok({"width": 1, "marks": ["a"]}, "Size(width=1, height=1, marks=['a'])"),
        bad({}, "a.width is required"),
        bad({"width": "x"}, "a.width: must be an integer"),
        bad({"width": 1, "hight": 2}, "a.hight is not allowed"),
        defs={
            "Size": {
                "additionalProperties": False,
                "description": "How large.",
                "properties": {
                    "width": {"type": "integer"},
                    "height": {"default": 1, "type": "integer"},
                    "marks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["width"],
                "title": "Size",
                "type": "object",
            }
        },
    ),
    takes(
        Frozen,
        {"$ref": "#/$defs/Frozen"},
        ok({"x": 1}, "Frozen(x=1)"),
        bad({}, "a.x is required"),
        defs={
            "Frozen": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "title": "Frozen",
                "type": "object",
            }
        },
    ),
    takes(
        Positive,
        {"$ref": "#/$defs/Positive"},
        ok({"x": 1}, "Positive(x=1)"),
        bad({"x": 0}, "a.x: must be greater than 0"),
        defs={
            "Positive": {
                "properties": {"x": {"exclusiveMinimum": 0, "type": "integer"}},
                "required": ["x"],
                "title": "Positive",
                "type": "object",
            }
        },
    ),
    takes(
        Crate[int],
        {"$ref": "#/$defs/Crate_int_"},
        ok({"content": 1}, "Crate(content=1)"),
        bad({"content": "x"}, "a.content: must be an integer"),
        defs={
            "Crate_int_": {
                "additionalProperties": False,
                "properties": {"content": {"type": "integer"}},
                "required": ["content"],
                "title": "Crate",
                "type": "object",
            }
        },
    ),
    takes(
        Chain,
        {"$ref": "#/$defs/Chain"},
        ok({"value": 1, "rest": {"value": 2}}, "Chain(value=1, rest=Chain(value=2, rest=None))"),
        bad({"value": 1, "rest": {}}, "a.rest.value is required"),
        defs={
            "Chain": {
                "additionalProperties": False,
                "properties": {
                    "value": {"type": "integer"},
                    "rest": {"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}], "default": None},
                },
                "required": ["value"],
                "title": "Chain",
                "type": "object",
            }
        },
    ),
    # models
    takes(
        Point,
        {"$ref": "#/$defs/Point"},
        ok({"x": 1}, "Point(x=1, y=0)"),
        ok({"x": 1, "more": 2}, "Point(x=1, y=0)"),
        bad({"x": -1}, "a.x: must be at least 0"),
        bad({}, "a.x is required"),
        bad("1,2", "a: must be an object"),
        bad(None, "a: must be an object"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Line,
        {"$ref": "#/$defs/Line"},
        ok({"start": {"x": 1}, "end": {"x": 2}}, "Line(start=Point(x=1, y=0), end=Point(x=2, y=0), via=[])"),
        bad({"start": {"x": True}, "end": {"x": 2}}, "a.start.x: must be an integer, not true or false"),
        bad({"start": {}, "end": 5}, "a.start.x is required\na.end: must be an object"),
        defs={
            "Line": {
                "properties": {
                    "start": {"$ref": "#/$defs/Point"},
                    "end": {"$ref": "#/$defs/Point"},
                    "via": {"default": [], "items": {"$ref": "#/$defs/Point"}, "type": "array"},
                },
                "required": ["start", "end"],
                "title": "Line",
                "type": "object",
            },
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            },
        },
    ),
    takes(
        Tree,
        {"$ref": "#/$defs/Tree"},
        ok({"name": "a", "children": [{"name": "b"}]}, "Tree(name='a', children=[Tree(name='b', children=[])])"),
        bad({"name": "a", "children": [{"name": 1}]}, "a.children.0.name: must be a string"),
        defs={
            "Tree": {
                "properties": {
                    "name": {"type": "string"},
                    "children": {"default": [], "items": {"$ref": "#/$defs/Tree"}, "type": "array"},
                },
                "required": ["name"],
                "title": "Tree",
                "type": "object",
            }
        },
    ),
    takes(
        Box[int],
        {"$ref": "#/$defs/Box_int_"},
        ok({"content": 1}, "Box[int](content=1)"),
        bad({"content": "x"}, "a.content: must be an integer"),
        defs={
            "Box_int_": {
                "properties": {"content": {"type": "integer"}},
                "required": ["content"],
                "title": "Box[int]",
                "type": "object",
            }
        },
    ),
    takes(
        Box[Point],
        {"$ref": "#/$defs/Box_Point_"},
        ok({"content": {"x": 1}}, "Box[Point](content=Point(x=1, y=0))"),
        bad({"content": {}}, "a.content.x is required"),
        defs={
            "Box_Point_": {
                "properties": {"content": {"$ref": "#/$defs/Point"}},
                "required": ["content"],
                "title": "Box[Point]",
                "type": "object",
            },
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            },
        },
    ),
    takes(
        Box,
        {"$ref": "#/$defs/Box"},
        ok({"content": [1]}, "Box(content=[1])"),
        name="Box of anything",
        defs={"Box": {"properties": {"content": {}}, "required": ["content"], "title": "Box", "type": "object"}},
    ),
    takes(
        Strict,
        {"$ref": "#/$defs/Strict"},
        ok({"number": 1, "color": "blue"}, "Strict(number=1, color=<Color.BLUE: 'blue'>)"),
        bad({"number": "1"}, "a.number: must be an integer"),
        bad({"number": 1, "color": "x"}, "a.color: must be 'red' or 'blue'"),
        defs={
            "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
            "Strict": {
                "properties": {"number": {"type": "integer"}, "color": {"$ref": "#/$defs/Color", "default": "red"}},
                "required": ["number"],
                "title": "Strict",
                "type": "object",
            },
        },
    ),
    takes(
        Sealing,
        {"$ref": "#/$defs/Sealing"},
        ok({"x": 1}, "Sealing(x=1)"),
        bad({"x": 1, "xx": 1}, "a.xx is not allowed; did you mean 'x'?"),
        defs={
            "Sealing": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "title": "Sealing",
                "type": "object",
            }
        },
    ),
    takes(
        Open,
        {"$ref": "#/$defs/Open"},
        ok({"x": 1, "y": [2]}, "Open(x=1, y=[2])"),
        bad({"y": 1}, "a.x is required"),
        defs={
            "Open": {
                "additionalProperties": True,
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "title": "Open",
                "type": "object",
            }
        },
    ),
    takes(
        Stone,
        {"$ref": "#/$defs/Stone"},
        ok({"x": 1}, "Stone(x=1)"),
        defs={
            "Stone": {"properties": {"x": {"type": "integer"}}, "required": ["x"], "title": "Stone", "type": "object"}
        },
    ),
    takes(
        Names,
        {"$ref": "#/$defs/Names"},
        ok(["a"], "Names(root=['a'])"),
        bad([1], "a.0: must be a string"),
        defs={"Names": {"description": "Some names.", "items": {"type": "string"}, "title": "Names", "type": "array"}},
    ),
    takes(
        Scores,
        {"$ref": "#/$defs/Scores"},
        ok({"a": 1}, "Scores(root={'a': 1})"),
        bad({"a": "x"}, "a.a: must be an integer"),
        defs={"Scores": {"additionalProperties": {"type": "integer"}, "title": "Scores", "type": "object"}},
    ),
    takes(
        Aliased,
        {"$ref": "#/$defs/Aliased"},
        ok({"userId": 1, "e-mail": "m", "phone": "5"}, "Aliased(user_id=1, full_name='x', mail='m', phone='5')"),
        lax({"user_id": 1, "tel": "5"}, "Aliased(user_id=1, full_name='x', mail='', phone='5')"),
        bad({}, "a.userId is required"),
        defs={
            "Aliased": {
                "properties": {
                    "userId": {"type": "integer"},
                    "full_name": {"default": "x", "type": "string"},
                    "e-mail": {"default": "", "type": "string"},
                    "phone": {"default": "", "type": "string"},
                },
                "required": ["userId"],
                "title": "Aliased",
                "type": "object",
            }
        },
    ),
    takes(
        Even,
        {"$ref": "#/$defs/Even"},
        ok({"number": 4}, "Even(number=4, double=8)"),
        picky({"number": 3}, "a.number: must be even"),
        bad({"number": "x"}, "a.number: must be an integer"),
        defs={
            "Even": {
                "properties": {"number": {"type": "integer"}, "double": {"default": 0, "type": "integer"}},
                "required": ["number"],
                "title": "Even",
                "type": "object",
            }
        },
    ),
    takes(
        Span,
        {"$ref": "#/$defs/Span"},
        ok({"first": 1, "last": 2}, "Span(first=1, last=2)"),
        picky({"first": 2, "last": 1}, "a: first must not be greater than last"),
        defs={
            "Span": {
                "properties": {"first": {"type": "integer"}, "last": {"type": "integer"}},
                "required": ["first", "last"],
                "title": "Span",
                "type": "object",
            }
        },
    ),
    takes(
        Circle,
        {"$ref": "#/$defs/Circle"},
        ok({"radius": 2}, "Circle(radius=2.0, area=4.0)"),
        defs={
            "Circle": {
                "properties": {"radius": {"type": "number"}},
                "required": ["radius"],
                "title": "Circle",
                "type": "object",
            }
        },
    ),
    takes(
        Hidden,
        {"$ref": "#/$defs/Hidden"},
        ok({"shown": 1, "secret": "x"}, "Hidden(shown=1, secret='x')"),
        defs={
            "Hidden": {
                "properties": {"shown": {"type": "integer"}, "secret": {"default": "s", "type": "string"}},
                "required": ["shown"],
                "title": "Hidden",
                "type": "object",
            }
        },
    ),
    takes(
        Documented,
        {"$ref": "#/$defs/Documented"},
        ok({"a": 1}, "Documented(a=1)"),
        defs={
            "Documented": {
                "examples": [{"a": 1}],
                "properties": {
                    "a": {
                        "deprecated": True,
                        "description": "what a is",
                        "examples": [1],
                        "title": "The A",
                        "type": "integer",
                    }
                },
                "required": ["a"],
                "title": "A documented one",
                "type": "object",
            }
        },
    ),
    takes(
        Counted,
        {"$ref": "#/$defs/Counted"},
        ok({}, "Counted(seen=7)"),
        defs={"Counted": {"properties": {"seen": {"type": "integer"}}, "title": "Counted", "type": "object"}},
    ),
    takes(
        Tokens,
        {"$ref": "#/$defs/Tokens"},
        ok({"values": {"a": [1]}, "anything": {"b": None}}, "Tokens(values={'a': [1]}, anything={'b': None})"),
        bad({"values": {"a": 1}}, "a.values.a: must be a list"),
        defs={
            "Tokens": {
                "properties": {
                    "values": {
                        "additionalProperties": {"items": {"type": "integer"}, "type": "array"},
                        "type": "object",
                    },
                    "anything": {"default": None},
                },
                "required": ["values"],
                "title": "Tokens",
                "type": "object",
            }
        },
    ),
    takes(
        list[Point],
        {"items": {"$ref": "#/$defs/Point"}, "type": "array"},
        ok([{"x": 1}], "[Point(x=1, y=0)]"),
        bad([{"x": 1}, {"y": 1}], "a.1.x is required"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        dict[str, Point],
        {"additionalProperties": {"$ref": "#/$defs/Point"}, "type": "object"},
        ok({"a": {"x": 1}}, "{'a': Point(x=1, y=0)}"),
        bad({"a": 1}, "a.a: must be an object"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Point | None,
        {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
        ok(None, "None"),
        ok({"x": 1}, "Point(x=1, y=0)"),
        bad(1, "a: must be an object"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Annotated[Point, "where"],
        {"$ref": "#/$defs/Point", "description": "where"},
        ok({"x": 1}, "Point(x=1, y=0)"),
        name="described model",
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Point,
        {"$ref": "#/$defs/Point", "default": {"x": 1, "y": 0}},
        absent("Point(x=1, y=0)"),
        name="model by default",
        default=Point(x=1),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Size,
        {"$ref": "#/$defs/Size", "default": {"width": 1, "height": 1, "marks": []}},
        absent("Size(width=1, height=1, marks=[])"),
        name="dataclass by default",
        default=Size(1),
        defs={
            "Size": {
                "additionalProperties": False,
                "description": "How large.",
                "properties": {
                    "width": {"type": "integer"},
                    "height": {"default": 1, "type": "integer"},
                    "marks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["width"],
                "title": "Size",
                "type": "object",
            }
        },
    ),
    # unions of objects
    takes(
        Pet,
        {
            "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
            "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        },
        ok({"kind": "cat", "lives": 9}, "Cat(kind='cat', lives=9)"),
        ok({"kind": "dog", "tricks": []}, "Dog(kind='dog', tricks=[])"),
        bad({"kind": "cow"}, "a: must have 'kind' as one of 'cat', 'dog'"),
        bad({}, "a: must have 'kind', which says what it is"),
        bad({"kind": "cat"}, "a.lives is required"),
        name="discriminated",
        defs={
            "Cat": {
                "properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {
                    "kind": {"const": "dog", "type": "string"},
                    "tricks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["kind", "tricks"],
                "title": "Dog",
                "type": "object",
            },
        },
    ),
    takes(
        list[Pet],
        {
            "items": {
                "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
                "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            },
            "type": "array",
        },
        ok([{"kind": "cat", "lives": 9}], "[Cat(kind='cat', lives=9)]"),
        bad([{"kind": "cat"}], "a.0.lives is required"),
        name="list of discriminated",
        defs={
            "Cat": {
                "properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {
                    "kind": {"const": "dog", "type": "string"},
                    "tricks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["kind", "tricks"],
                "title": "Dog",
                "type": "object",
            },
        },
    ),
    takes(
        Owner,
        {"$ref": "#/$defs/Owner"},
        ok({"pets": [{"kind": "dog", "tricks": ["sit"]}]}, "Owner(pets=[Dog(kind='dog', tricks=['sit'])])"),
        bad({"pets": [{"kind": "dog"}]}, "a.pets.0.tricks is required"),
        defs={
            "Cat": {
                "properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {
                    "kind": {"const": "dog", "type": "string"},
                    "tricks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["kind", "tricks"],
                "title": "Dog",
                "type": "object",
            },
            "Owner": {
                "properties": {
                    "pets": {
                        "items": {
                            "discriminator": {
                                "mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"},
                                "propertyName": "kind",
                            },
                            "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
                        },
                        "type": "array",
                    }
                },
                "required": ["pets"],
                "title": "Owner",
                "type": "object",
            },
        },
    ),
    takes(
        Cat | Dog,
        {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
        ok({"kind": "dog", "tricks": []}, "Dog(kind='dog', tricks=[])"),
        bad({"kind": "dog"}, "a.tricks is required"),
        bad(
            {"kind": "cow"},
            "a: kind: must be 'cat' and lives is required, or: kind: must be 'dog' and tricks is required",
        ),
        defs={
            "Cat": {
                "properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {
                    "kind": {"const": "dog", "type": "string"},
                    "tricks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["kind", "tricks"],
                "title": "Dog",
                "type": "object",
            },
        },
    ),
    takes(
        Flat | Round,
        {"anyOf": [{"$ref": "#/$defs/Flat"}, {"$ref": "#/$defs/Round"}]},
        ok({"radius": 1}, "Round(radius=1.0)"),
        ok({"side": 1}, "Flat(side=1.0)"),
        bad({}, "a: side is required, or: radius is required"),
        bad({"side": "x"}, "a: side: must be a number, or: radius is required"),
        defs={
            "Flat": {
                "properties": {"side": {"type": "number"}},
                "required": ["side"],
                "title": "Flat",
                "type": "object",
            },
            "Round": {
                "properties": {"radius": {"type": "number"}},
                "required": ["radius"],
                "title": "Round",
                "type": "object",
            },
        },
    ),
    takes(
        Shape,
        {"oneOf": [{"$ref": "#/$defs/Flat"}, {"$ref": "#/$defs/Round"}]},
        ok({"radius": 1}, "Round(radius=1.0)"),
        ok({"side": 1}, "Flat(side=1.0)"),
        bad({}, "a.radius is required"),
        name="discriminated by a function",
        defs={
            "Flat": {
                "properties": {"side": {"type": "number"}},
                "required": ["side"],
                "title": "Flat",
                "type": "object",
            },
            "Round": {
                "properties": {"radius": {"type": "number"}},
                "required": ["radius"],
                "title": "Round",
                "type": "object",
            },
        },
    ),
    takes(
        Union[Point, str, None],
        {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "string"}, {"type": "null"}]},
        ok({"x": 1}, "Point(x=1, y=0)"),
        ok("1,2", "'1,2'"),
        ok(None, "None"),
        bad({"x": -1}, "a.x: must be at least 0"),
        bad(5, "a: must be an object, or: must be a string"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        Point | list[Point],
        {"anyOf": [{"$ref": "#/$defs/Point"}, {"items": {"$ref": "#/$defs/Point"}, "type": "array"}]},
        ok({"x": 1}, "Point(x=1, y=0)"),
        ok([{"x": 1}], "[Point(x=1, y=0)]"),
        bad([{}], "a.0.x is required"),
        bad({}, "a.x is required"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        int | list[int] | dict[str, int],
        {
            "anyOf": [
                {"type": "integer"},
                {"items": {"type": "integer"}, "type": "array"},
                {"additionalProperties": {"type": "integer"}, "type": "object"},
            ]
        },
        ok(1, "1"),
        ok([1], "[1]"),
        ok({"a": 1}, "{'a': 1}"),
        bad([None], "a.0: must be an integer"),
        bad({"a": []}, "a.a: must be an integer"),
        bad(None, "a: must be an integer, or: must be a list, or: must be an object"),
    ),
    takes(
        Size | Options,
        {"anyOf": [{"$ref": "#/$defs/Size"}, {"$ref": "#/$defs/Options"}]},
        ok({"width": 1}, "Size(width=1, height=1, marks=[])"),
        ok({"depth": 1}, "{'depth': 1}"),
        bad({"depth": "x"}, "a: width is required and depth is not allowed, or: depth: must be an integer"),
        defs={
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
                "type": "object",
            },
            "Size": {
                "additionalProperties": False,
                "description": "How large.",
                "properties": {
                    "width": {"type": "integer"},
                    "height": {"default": 1, "type": "integer"},
                    "marks": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["width"],
                "title": "Size",
                "type": "object",
            },
        },
    ),
    takes(
        Annotated[list[Annotated[Point, Field(description="one")]], Field(description="all", min_length=1)],
        {
            "description": "all",
            "items": {"$ref": "#/$defs/Point", "description": "one"},
            "minItems": 1,
            "type": "array",
        },
        ok([{"x": 1}], "[Point(x=1, y=0)]"),
        bad([], "a: must have at least 1 item"),
        name="described within",
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
]
