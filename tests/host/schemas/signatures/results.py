"""Signatures of results: what is promised of them, and what is sent."""

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
    gives(str, None, "text", "text"),
    gives(None, None, None, None),
    gives(Any, None, {"a": {1}}, '{"a":[1]}'),
    gives(object, None, 5, "5"),
    gives(bytes, None, b"\xff", "/w=="),
    gives(Annotated[str, "the text"], None, "x", "x"),
    gives(int, {"type": "integer"}, 5, 5),
    gives(int, {"type": "integer"}, 2**70, 1180591620717411303424, name="-> a large int"),
    gives(float, {"type": "number"}, 1.5, 1.5),
    gives(bool, {"type": "boolean"}, True, True),
    gives(UserId, {"type": "integer"}, 5, 5),
    gives(
        Annotated[int, Field(ge=0, description="how many")],
        {"description": "how many", "minimum": 0, "type": "integer"},
        3,
        3,
        name="-> described",
    ),
    gives(Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    gives(Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}, None, None),
    gives(str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", "x", name="-> text or None"),
    gives(int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x", "x"),
    gives(Literal["a", 1, None], {"enum": ["a", 1, None]}, None, None),  # noqa: PYI061
    gives(Color, {"enum": ["red", "blue"], "title": "Color", "type": "string"}, Color.RED, "red"),
    gives(Level, {"enum": [1, 2], "title": "Level", "type": "integer"}, Level.HIGH, 2),
    gives(Unit, {"enum": ["m", "ft"], "title": "Unit", "type": "string"}, Unit.FOOT, "ft"),
    gives(Right, {"maximum": 7, "minimum": 0, "title": "Right", "type": "integer"}, Right.READ | Right.OWN, 5),
    gives(Mode, {"title": "Mode", "type": "integer"}, Mode(5), 5),
    gives(Pair, {"enum": [[1, 2], [3, 4]], "title": "Pair", "type": "array"}, Pair.LEFT, [1, 2]),
    gives(list, {"items": {}, "type": "array"}, [1, "a"], [1, "a"]),
    gives(list[int], {"items": {"type": "integer"}, "type": "array"}, (1, 2), [1, 2]),
    gives(
        list[list[Color]],
        {
            "$defs": {"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
            "items": {"items": {"$ref": "#/$defs/Color"}, "type": "array"},
            "type": "array",
        },
        [[Color.RED]],
        [["red"]],
    ),
    gives(
        tuple[int, str],
        {"maxItems": 2, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}], "type": "array"},
        (1, "a"),
        [1, "a"],
    ),
    gives(tuple[int, ...], {"items": {"type": "integer"}, "type": "array"}, (1, 2), [1, 2]),
    gives(set[int], {"items": {"type": "integer"}, "type": "array", "uniqueItems": True}, {1}, [1]),
    gives(
        frozenset[Level],
        {
            "$defs": {"Level": {"enum": [1, 2], "title": "Level", "type": "integer"}},
            "items": {"$ref": "#/$defs/Level"},
            "type": "array",
            "uniqueItems": True,
        },
        frozenset({Level.LOW}),
        [1],
    ),
    gives(collections.deque[int], {"items": {"type": "integer"}, "type": "array"}, collections.deque([1]), [1]),
    gives(
        Sequence[Point],
        {
            "$defs": {
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
            "items": {"$ref": "#/$defs/Point"},
            "type": "array",
        },
        [Point(x=1)],
        [{"x": 1, "y": 0}],
    ),
    gives(dict, {"additionalProperties": True, "type": "object"}, {"a": 1}, {"a": 1}),
    gives(
        dict[str, Any],
        {"additionalProperties": True, "type": "object"},
        {"a": [None, WHEN]},
        {"a": [None, "2026-07-28T10:30:00Z"]},
    ),
    gives(dict[str, int], {"additionalProperties": {"type": "integer"}, "type": "object"}, {"a": 1}, {"a": 1}),
    gives(dict[int, str], {"additionalProperties": {"type": "string"}, "type": "object"}, {1: "a"}, {"1": "a"}),
    gives(
        dict[Level, int],
        {"additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["1", "2"]}, "type": "object"},
        {Level.HIGH: 1},
        {"2": 1},
    ),
    gives(
        dict[Color, int],
        {
            "$defs": {"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
            "additionalProperties": {"type": "integer"},
            "propertyNames": {"$ref": "#/$defs/Color"},
            "type": "object",
        },
        {Color.RED: 1},
        {"red": 1},
    ),
    gives(
        dict[datetime.date, int],
        {"additionalProperties": {"type": "integer"}, "propertyNames": {"format": "date"}, "type": "object"},
        {WHEN.date(): 1},
        {"2026-07-28": 1},
    ),
    gives(
        Mapping[str, Point],
        {
            "$defs": {
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
            "additionalProperties": {"$ref": "#/$defs/Point"},
            "type": "object",
        },
        {"a": Point(x=1)},
        {"a": {"x": 1, "y": 0}},
    ),
    gives(
        JsonValue,
        {
            "$defs": {
                "JsonValue": {
                    "anyOf": [
                        {"type": "integer"},
                        {"type": "string"},
                        {"items": {"$ref": "#/$defs/JsonValue"}, "type": "array"},
                        {"additionalProperties": {"$ref": "#/$defs/JsonValue"}, "type": "object"},
                        {"type": "null"},
                    ]
                }
            },
            "$ref": "#/$defs/JsonValue",
        },
        {"a": [1, None]},
        {"a": [1, None]},
        name="-> a recursive alias",
    ),
    gives(datetime.date, {"format": "date", "type": "string"}, WHEN.date(), "2026-07-28"),
    gives(datetime.datetime, {"format": "date-time", "type": "string"}, WHEN, "2026-07-28T10:30:00Z"),
    gives(datetime.time, {"format": "time", "type": "string"}, WHEN.time(), "10:30:00"),
    gives(datetime.timedelta, {"format": "duration", "type": "string"}, datetime.timedelta(hours=26), "P1DT2H"),
    gives(uuid.UUID, {"format": "uuid", "type": "string"}, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    gives(decimal.Decimal, {"type": "string"}, decimal.Decimal("1.50"), "1.50"),
    gives(fractions.Fraction, {"format": "fraction", "type": "string"}, fractions.Fraction(3, 4), "3/4"),
    gives(complex, {"type": "string"}, 1 + 2j, "1+2j"),
    gives(list[bytes], {"items": {"format": "binary", "type": "string"}, "type": "array"}, [b"abc"], ["abc"]),
    gives(pathlib.Path, {"format": "path", "type": "string"}, pathlib.Path("a/b"), "a/b"),
    gives(
        AnyUrl,
        {"format": "uri", "minLength": 1, "type": "string"},
        AnyUrl("https://example.com/a"),
        "https://example.com/a",
        name="-> AnyUrl",
    ),
    gives(ipaddress.IPv4Address, {"format": "ipv4", "type": "string"}, ipaddress.IPv4Address("192.0.2.1"), "192.0.2.1"),
    gives(re.Pattern[str], {"format": "regex", "type": "string"}, re.compile("^a$"), "^a$", name="-> Pattern"),
    gives(
        SecretStr,
        {"format": "password", "type": "string", "writeOnly": True},
        SecretStr("canary"),
        "**********",
        name="-> SecretStr",
    ),
    gives(
        Options,
        {
            "description": "How to look.",
            "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
            "required": ["depth"],
            "title": "Options",
            "type": "object",
        },
        {"depth": 1},
        {"depth": 1},
    ),
    gives(
        Loose,
        {
            "properties": {"size": {"type": "integer"}, "color": {"type": "string"}},
            "required": ["size"],
            "title": "Loose",
            "type": "object",
        },
        {"size": 1},
        {"size": 1},
    ),
    gives(
        Page[Point],
        {
            "$defs": {
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
            "properties": {"items": {"items": {"$ref": "#/$defs/Point"}, "type": "array"}},
            "required": ["items"],
            "title": "Page",
            "type": "object",
        },
        {"items": [Point(x=1)]},
        {"items": [{"x": 1, "y": 0}]},
    ),
    gives(
        Node,
        {
            "$defs": {
                "Node": {
                    "properties": {
                        "name": {"type": "string"},
                        "children": {"items": {"$ref": "#/$defs/Node"}, "type": "array"},
                    },
                    "required": ["name", "children"],
                    "title": "Node",
                    "type": "object",
                }
            },
            "$ref": "#/$defs/Node",
        },
        {"name": "a", "children": [{"name": "b", "children": []}]},
        {"name": "a", "children": [{"name": "b", "children": []}]},
    ),
    gives(
        list[Options],
        {
            "$defs": {
                "Options": {
                    "description": "How to look.",
                    "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                    "required": ["depth"],
                    "title": "Options",
                    "type": "object",
                }
            },
            "items": {"$ref": "#/$defs/Options"},
            "type": "array",
        },
        [{"depth": 1, "label": "x"}],
        [{"depth": 1, "label": "x"}],
    ),
    gives(
        Spot,
        {
            "maxItems": 2,
            "minItems": 1,
            "prefixItems": [{"type": "integer"}, {"default": 0, "type": "integer"}],
            "type": "array",
        },
        Spot(1),
        [1, 0],
    ),
    gives(
        Size,
        {
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
        Size(2),
        {"width": 2, "height": 1, "marks": []},
    ),
    gives(
        Frozen,
        {"properties": {"x": {"type": "integer"}}, "required": ["x"], "title": "Frozen", "type": "object"},
        Frozen(x=1),
        {"x": 1},
    ),
    gives(
        Chain,
        {
            "$defs": {
                "Chain": {
                    "properties": {
                        "value": {"type": "integer"},
                        "rest": {"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}], "default": None},
                    },
                    "required": ["value"],
                    "title": "Chain",
                    "type": "object",
                }
            },
            "$ref": "#/$defs/Chain",
        },
        Chain(1, Chain(2)),
        {"value": 1, "rest": {"value": 2, "rest": None}},
    ),
    gives(
        Point,
        {
            "description": "A point.",
            "properties": {
                "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                "y": {"default": 0, "type": "integer"},
            },
            "required": ["x"],
            "title": "Point",
            "type": "object",
        },
        Point(x=1),
        {"x": 1, "y": 0},
    ),
    gives(
        Point,
        {
            "description": "A point.",
            "properties": {
                "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                "y": {"default": 0, "type": "integer"},
            },
            "required": ["x"],
            "title": "Point",
            "type": "object",
        },
        {"x": 1},
        {"x": 1, "y": 0},
        name="-> a model, of a dict",
    ),
    gives(
        Optional[Point],
        {
            "$defs": {
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
            "anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}],
        },
        None,
        None,
    ),
    gives(
        Point | None,
        {
            "$defs": {
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
            "anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}],
        },
        Point(x=1),
        {"x": 1, "y": 0},
    ),
    gives(
        Line,
        {
            "$defs": {
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
            "properties": {
                "start": {"$ref": "#/$defs/Point"},
                "end": {"$ref": "#/$defs/Point"},
                "via": {"default": [], "items": {"$ref": "#/$defs/Point"}, "type": "array"},
            },
            "required": ["start", "end"],
            "title": "Line",
            "type": "object",
        },
        Line(start=Point(x=1), end=Point(x=2)),
        {"start": {"x": 1, "y": 0}, "end": {"x": 2, "y": 0}, "via": []},
    ),
    gives(
        Tree,
        {
            "$defs": {
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
            "$ref": "#/$defs/Tree",
        },
        Tree(name="a", children=[Tree(name="b")]),
        {"name": "a", "children": [{"name": "b", "children": []}]},
    ),
    gives(
        Box[int],
        {
            "properties": {"content": {"type": "integer"}},
            "required": ["content"],
            "title": "Box[int]",
            "type": "object",
        },
        Box[int](content=3),
        {"content": 3},
    ),
    gives(
        Names,
        {"description": "Some names.", "items": {"type": "string"}, "title": "Names", "type": "array"},
        Names(["a"]),
        ["a"],
    ),
    gives(
        Scores,
        {"additionalProperties": {"type": "integer"}, "title": "Scores", "type": "object"},
        Scores({"a": 1}),
        {"a": 1},
    ),
    gives(
        Aliased,
        {
            "properties": {
                "userId": {"type": "integer"},
                "fullName": {"default": "x", "type": "string"},
                "mail": {"default": "", "type": "string"},
                "phone": {"default": "", "type": "string"},
            },
            "required": ["userId"],
            "title": "Aliased",
            "type": "object",
        },
        Aliased(user_id=3),
        {"userId": 3, "fullName": "x", "mail": "", "phone": ""},
    ),
    gives(
        Circle,
        {
            "properties": {"radius": {"type": "string"}, "area": {"readOnly": True, "type": "number"}},
            "required": ["radius", "area"],
            "title": "Circle",
            "type": "object",
        },
        Circle(radius=2),
        {"radius": "2.0 m", "area": 4.0},
    ),
    gives(
        Hidden,
        {"properties": {"shown": {"type": "integer"}}, "required": ["shown"], "title": "Hidden", "type": "object"},
        Hidden(shown=1),
        {"shown": 1},
    ),
    gives(
        Open,
        {
            "additionalProperties": True,
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "title": "Open",
            "type": "object",
        },
        Open.model_validate({"x": 1, "y": [2]}),
        {"x": 1, "y": [2]},
    ),
    gives(
        Documented,
        {
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
        },
        Documented(a=1),
        {"a": 1},
    ),
    gives(
        Pet,
        {
            "$defs": {
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
            "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
            "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        },
        Dog(kind="dog", tricks=["sit"]),
        {"kind": "dog", "tricks": ["sit"]},
        name="-> discriminated",
    ),
    gives(
        Cat | Dog,
        {
            "$defs": {
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
            "anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        },
        Cat(kind="cat", lives=9),
        {"kind": "cat", "lives": 9},
    ),
    gives(
        list[Cat | Dog],
        {
            "$defs": {
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
            "items": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            "type": "array",
        },
        [Cat(kind="cat", lives=9)],
        [{"kind": "cat", "lives": 9}],
    ),
    gives(Awaitable[int], {"type": "integer"}, 5, 5),
    gives(
        list[Mapping[Unit, Sequence[Point | None]]],
        {
            "$defs": {
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
                "Unit": {"enum": ["m", "ft"], "title": "Unit", "type": "string"},
            },
            "items": {
                "additionalProperties": {
                    "items": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
                    "type": "array",
                },
                "propertyNames": {"$ref": "#/$defs/Unit"},
                "type": "object",
            },
            "type": "array",
        },
        [{Unit.FOOT: [None, Point(x=1)]}],
        [{"ft": [None, {"x": 1, "y": 0}]}],
    ),
]
