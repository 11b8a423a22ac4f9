"""Signatures of containers, nested ones included."""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, DefaultDict, Deque, Dict, FrozenSet, List, Literal, OrderedDict, Tuple

import annotated_types as at
from pydantic import Field, Json, conlist

from tests.host.schemas.signatures.table import NONE, signature, takes
from tests.host.schemas.signatures.types_of_tests import Color, JsonValue, Level, Point, Right


def ordered(a: OrderedDict[str, int]) -> str:
    return f"{type(a).__name__} of {list(a.items())}"  # its repr differs between versions of Python


CASES = [
    takes(list, [1, "a"], {}, "ab"),
    takes(list[int], [1, 2], [], ["1"], ["x", 1, None], [True], 1),
    takes(List[str], ["a"], [1]),
    takes(list[list[list[int]]], [[[1]]], [[["x"]]], [[1]]),
    takes(list[int | None], [1, None], ["x"]),
    takes(list[Any], [1, [None]]),
    takes(list[Color], ["red"], ["x"]),
    takes(list[Literal["a", "b"]], ["a"], ["c"]),
    takes(list[dict[str, list[int]]], [{"a": [1]}], [{"a": ["x"]}]),
    takes(Annotated[list[int], Field(min_length=1, max_length=2)], [1], [], [1, 2, 3], name="limited list"),
    takes(list[Annotated[int, Field(ge=1)]], [1], [1, 0], name="list of limited"),
    takes(conlist(int, min_length=1), [1], [], name="conlist"),
    takes(Annotated[list[str], at.MaxLen(1)], ["a"], ["a", "b"], name="MaxLen"),
    takes(set[int], [1], [1, 1], ["x"]),
    takes(frozenset[str], ["a"], [1]),
    takes(FrozenSet[Level], [2], [3]),
    takes(AbstractSet[int], [1], "x"),
    takes(set, ["a"], [[1]]),
    takes(tuple, [1, "a"]),
    takes(tuple[int, ...], [1, 2], [], ["x"]),
    takes(tuple[int, str], [1, "a"], [1], [1, "a", 2], ["x", "a"]),
    takes(Tuple[float, float], [1, 2.5], [1, True]),
    takes(tuple[()], [], [1]),
    takes(list[tuple[str, int]], [["a", 1]], [["a"]]),
    takes(collections.deque[int], [1], ["x"]),
    takes(Deque[str], ["a"]),
    takes(Sequence[int], [1], "12", {}),
    takes(MutableSequence[int], [1]),
    takes(dict, {"a": 1}, []),
    takes(dict[str, int], {"a": 1}, {"a": "x"}, {"a": True}, []),
    takes(Dict[str, Any], {"a": [1]}),
    takes(dict[str, dict[str, bool]], {"a": {"b": True}}, {"a": {"b": 5}}),
    takes(dict[int, str], {"1": "a"}, {"x": "a"}),
    takes(dict[Color, int], {"red": 1}, {"green": 1}),
    takes(dict[Level, int], {"2": 1}, {"3": 1}),
    takes(dict[Literal["a", "b"], int], {"a": 1}, {"c": 1}),
    takes(dict[Annotated[str, Field(pattern="^[a-z]$")], int], {"a": 1}, {"A": 1}, name="dict with a pattern"),
    takes(Annotated[dict[str, int], Field(max_length=1)], {"a": 1}, {"a": 1, "b": 2}, name="limited dict"),
    takes(Mapping[str, int], {"a": 1}, []),
    takes(MutableMapping[str, Point], {"a": {"x": 1}}, {"a": {"x": -1}}),
    signature(ordered, {"a": {"b": 1, "a": 2}}, {"a": {"a": "x"}}),
    takes(DefaultDict[str, list[int]], {"a": [1]}, {"a": 1}),
    takes(collections.Counter[str], {"a": 2}, {"a": "x"}),
    takes(list[Right], [3], [9]),
    takes(Json[list[int]], "[1]", "[", '["x"]', [1], name="Json"),
    takes(JsonValue, {"a": [1, None, {"b": "c"}]}, 1.5, name="a recursive alias"),
    takes(list[int], NONE, [2], name="list by default", default=[1]),
    takes(dict[str, int], NONE, name="dict by default", default={"a": 1}),
    takes(set[int], NONE, name="set by default", default={1}),
]
