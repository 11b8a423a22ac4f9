"""Signatures in the syntax of Python 3.12 and later, as strings. Earlier versions have none."""

from __future__ import annotations

import sys
from typing import Any

from tests.host.schemas.signatures.table import Case, signature

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
        case("generic", {"a": [1]}),
        case("bounded", {"a": 1}, {"a": "x"}),
        case("chosen", {"a": "x"}, {"a": []}),
        case("alias", {"a": ["x"]}, {"a": [1]}),
        case("generic_alias", {"a": [1, "x"]}, {"a": [1]}),
        case("recursive_alias", {"a": [[1], 2]}, {"a": [None]}),
        case("model", {"a": {"content": 1}}, {"a": {"content": "x"}}),
        case("typed_dict", {"a": {"cells": [1]}}, {"a": {}}),
        case("record", {"a": {"value": "x"}}, {"a": {"value": 1}}),
        case("plain_typed_dict", {"a": {"x": 1}, "b": {"c": {"x": 2}}}, {"a": {}, "b": {}}),
    ]
