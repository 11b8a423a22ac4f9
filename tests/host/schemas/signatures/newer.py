"""Signatures in the syntax of Python 3.12 and later, as text; there are none on earlier ones."""

from __future__ import annotations

import sys
from typing import Any

from tests.host.schemas.signatures.table import Case, bad, ok, signature

SOURCE = """
from typing import TypedDict
from pydantic import BaseModel
from dataclasses import dataclass

type Names = list[str]
type Pair[A, B] = tuple[A, B]
type Nest = int | list[Nest]

class Bag[T](BaseModel):
    content: T
    others: list[T] = []

class Row[T](TypedDict):
    cells: list[T]

@dataclass
class Cell[T]:
    value: T

class Plain(TypedDict):
    x: int

def generic[T](a: T) -> str: return repr(a)
def bounded[T: int](a: T) -> str: return repr(a)
def chosen[T: (int, str)](a: T) -> str: return repr(a)
def alias(a: Names) -> str: return repr(a)
def generic_alias(a: Pair[int, str]) -> str: return repr(a)
def recursive_alias(a: Nest) -> str: return repr(a)
def model(a: Bag[int]) -> Bag[int]: return a
def typed_dict(a: Row[int]) -> Row[int]: return a
def record(a: Cell[str]) -> Cell[str]: return a
def plain_typed_dict(a: Plain, b: dict[str, Plain]) -> list[Plain]: return [a, *b.values()]
"""
namespace: dict[str, Any] = {"__name__": __name__}
if sys.version_info >= (3, 12):
    exec(compile(SOURCE, "newer", "exec", dont_inherit=True), namespace)


def case(name: str, *arguments: Any, **more: Any) -> Case:
    return signature(namespace[name], *arguments, name=name, **more)


CASES: list[Case] = []
if sys.version_info >= (3, 12):
    CASES = [
        case("generic", {"a": {}}, ok({"a": [1]}, "[1]"), required=("a",)),
        case(
            "bounded",
            {"a": {"type": "integer"}},
            ok({"a": 1}, "1"),
            bad({"a": "x"}, "a: must be an integer"),
            required=("a",),
        ),
        case(
            "chosen",
            {"a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
            ok({"a": "x"}, "'x'"),
            bad({"a": []}, "a: must be an integer, or: must be a string"),
            required=("a",),
        ),
        case(
            "alias",
            {"a": {"$ref": "#/$defs/Names"}},
            ok({"a": ["x"]}, "['x']"),
            bad({"a": [1]}, "a.0: must be a string"),
            required=("a",),
            defs={"Names": {"items": {"type": "string"}, "type": "array"}},
        ),
        case(
            "generic_alias",
            {"a": {"$ref": "#/$defs/Pair_int_str_"}},
            ok({"a": [1, "x"]}, "(1, 'x')"),
            bad({"a": [1]}, "a.1 is required"),
            required=("a",),
            defs={
                "Pair_int_str_": {
                    "maxItems": 2,
                    "minItems": 2,
                    "prefixItems": [{"type": "integer"}, {"type": "string"}],
                    "type": "array",
                }
            },
        ),
        case(
            "recursive_alias",
            {"a": {"$ref": "#/$defs/Nest"}},
            ok({"a": [[1], 2]}, "[[1], 2]"),
            bad({"a": [None]}, "a.0: must be an integer; must be a list"),
            required=("a",),
            defs={"Nest": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/Nest"}, "type": "array"}]}},
        ),
        case(
            "model",
            {"a": {"$ref": "#/$defs/Bag_int_"}},
            ok({"a": {"content": 1}}, {"content": 1, "others": []}),
            bad({"a": {"content": "x"}}, "a.content: must be an integer"),
            required=("a",),
            result={
                "properties": {
                    "content": {"type": "integer"},
                    "others": {"default": [], "items": {"type": "integer"}, "type": "array"},
                },
                "required": ["content"],
                "title": "Bag[int]",
                "type": "object",
            },
            defs={
                "Bag_int_": {
                    "properties": {
                        "content": {"type": "integer"},
                        "others": {"default": [], "items": {"type": "integer"}, "type": "array"},
                    },
                    "required": ["content"],
                    "title": "Bag[int]",
                    "type": "object",
                }
            },
        ),
        case(
            "typed_dict",
            {"a": {"$ref": "#/$defs/Row_int_"}},
            ok({"a": {"cells": [1]}}, {"cells": [1]}),
            bad({"a": {}}, "a.cells is required"),
            required=("a",),
            result={
                "properties": {"cells": {"items": {"type": "integer"}, "type": "array"}},
                "required": ["cells"],
                "title": "Row",
                "type": "object",
            },
            defs={
                "Row_int_": {
                    "additionalProperties": False,
                    "properties": {"cells": {"items": {"type": "integer"}, "type": "array"}},
                    "required": ["cells"],
                    "title": "Row",
                    "type": "object",
                }
            },
        ),
        case(
            "record",
            {"a": {"$ref": "#/$defs/Cell_str_"}},
            ok({"a": {"value": "x"}}, {"value": "x"}),
            bad({"a": {"value": 1}}, "a.value: must be a string"),
            required=("a",),
            result={
                "properties": {"value": {"type": "string"}},
                "required": ["value"],
                "title": "Cell",
                "type": "object",
            },
            defs={
                "Cell_str_": {
                    "additionalProperties": False,
                    "properties": {"value": {"type": "string"}},
                    "required": ["value"],
                    "title": "Cell",
                    "type": "object",
                }
            },
        ),
        case(
            "plain_typed_dict",
            {
                "a": {"$ref": "#/$defs/Plain"},
                "b": {"additionalProperties": {"$ref": "#/$defs/Plain"}, "type": "object"},
            },
            ok({"a": {"x": 1}, "b": {"c": {"x": 2}}}, [{"x": 1}, {"x": 2}]),
            bad({"a": {}, "b": {}}, "a.x is required"),
            required=("a", "b"),
            result={
                "$defs": {
                    "Plain": {
                        "properties": {"x": {"type": "integer"}},
                        "required": ["x"],
                        "title": "Plain",
                        "type": "object",
                    }
                },
                "items": {"$ref": "#/$defs/Plain"},
                "type": "array",
            },
            defs={
                "Plain": {
                    "additionalProperties": False,
                    "properties": {"x": {"type": "integer"}},
                    "required": ["x"],
                    "title": "Plain",
                    "type": "object",
                }
            },
        ),
    ]
