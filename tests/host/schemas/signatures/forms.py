"""Signatures by their form: names, defaults, kinds of parameters, callables, and the syntax of newer Pythons."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field
from typing_extensions import ParamSpec, TypedDict

from pegboard import Context, Inferrable
from tests.host.schemas.signatures.table import Case, signature
from tests.host.schemas.signatures.types_of_tests import Color, Point

P = ParamSpec("P")
R = TypeVar("R")


def none() -> str:
    return "nothing"


def keyword_only(a: int, *, b: str = "x", c: bool) -> list[Any]:
    return [a, b, c]


async def asynchronous(a: int, b: list[int] = [1]) -> int:  # noqa: B006
    return a + sum(b)


def fields(
    a: int = Field(7, ge=5, description="the a"),
    b: str = Field(..., min_length=2),
    c: list[int] = Field(default_factory=lambda: [1]),
    d: Annotated[int, Field(le=3, examples=[1], title="The D")] = 2,
) -> list[Any]:
    return [a, b, c, d]


def renamed(kind: Annotated[str, "type", "what kind"], class_: Annotated[int, "class", "which"] = 1) -> str:
    return f"{kind} {class_}"


def aliased(kind: str = Field(alias="type"), size: Annotated[int, Field(alias="Size", ge=0)] = 1) -> str:
    return f"{kind} {size}"


def with_context(a: int, context: Context) -> str:
    return f"{a} {context.tool}"


def with_annotated_context(ctx: Annotated[Context | None, "the call"], a: int) -> str:
    return f"{a} {ctx is not None}"


class Card(TypedDict):
    digits: Annotated[str, Inferrable(False), Field(max_length=4)]
    note: Annotated[str, Inferrable(True)]


def marked(
    a: Annotated[str, Inferrable(False)],
    card: Card,
    b: Annotated[Color, "which", Inferrable(False)] = Color.RED,
    free: Annotated[str, Inferrable()] = "",
) -> str:
    return f"{a} {card['digits']} {b.value} {free}"


def awkward(
    self: int, cls: int, context: int, arguments: int, schema: int, _x: int, __y: int, class_: int,
    model_config: int, model_fields: int, copy: int, dict: int, json: int, validate: int, name: int,
) -> int:  # fmt: skip
    return (
        self + cls + context + arguments + schema + _x + __y + class_
        + model_config + model_fields + copy + dict + json + validate + name
    )  # fmt: skip


AWKWARD = list(awkward.__code__.co_varnames[: awkward.__code__.co_argcount])


class Greeter:
    """Greets."""

    def __init__(self, word: str) -> None:
        self.word = word

    def greet(self, name: str) -> str:
        return f"{self.word} {name}"

    @classmethod
    def shout(cls, name: str) -> str:
        return name.upper()

    part = functools.partialmethod(greet, name="all")

    async def __call__(self, name: str, *, times: int = 1) -> str:
        return f"{self.word} {name}" * times


GREETER = Greeter("hi")


def traced(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    return wrapper


@traced
@traced
async def wrapped_twice(name: str, point: Point | None = None) -> str:
    return f"twice {name} {point}"


def join(greeting: str, name: str, end: str = "!") -> str:
    return f"{greeting} {name}{end}"


def enclosed() -> Callable[..., Any]:
    class Depth(Point):
        z: int = 0

    def closing(a: Depth) -> str:
        return repr(Depth(x=a.x, z=a.z))

    return closing


def of_text() -> Callable[..., Any]:
    def function(a: "Point", b: "list[Color | None]" = []) -> "int":  # noqa: B006, UP037
        return a.x + len(b)

    return function


YOU = {"name": "you"}

CASES: list[Case] = [
    signature(none, {}, {"more": 1}),
    signature(keyword_only, {"a": 1, "c": True}, {"a": 1}, {"a": 1, "c": True, "d": 1}),
    signature(asynchronous, {"a": 1}, {"a": 1, "b": []}, {"a": "1"}),
    signature(fields, {"b": "xy"}, {"b": "x", "a": 1, "d": 4}, {}),
    signature(renamed, {"type": "a", "class": 2}, {"kind": "a"}, {"type": "a", "class_": 1}),
    signature(aliased, {"type": "a", "Size": 2}, {"type": "a", "size": 2}, {"type": "a", "Size": -1}),
    signature(with_context, {"a": 1}, {"a": 1, "context": {}}),
    signature(with_annotated_context, {"a": 1}),
    signature(marked, {"a": "x", "card": {"digits": "1", "note": ""}}, {}),
    signature(awkward, dict.fromkeys(AWKWARD, 1), dict.fromkeys(AWKWARD, "x")),
    signature(GREETER.greet, YOU, name="method"),
    signature(Greeter.shout, YOU, name="class method"),
    signature(GREETER, {"name": "you", "times": 2}, name="async object"),
    signature(GREETER.part, {}, {"name": "x"}, name="partial method"),
    signature(wrapped_twice, {"name": "you", "point": {"x": 1}}, name="wrapped twice, async"),
    signature(functools.partial(join, "hi"), YOU, {"name": "you", "end": "?"}, name="partial"),
    signature(functools.partial(join, "hi", end="?"), YOU, {"name": "you", "end": "."}, name="partial of a keyword"),
    signature(functools.partial(functools.partial(join, end="?"), greeting="oh"), YOU, name="partial of a partial"),
    signature(functools.partial(GREETER, times=2), YOU, name="partial of an object"),
    signature(enclosed(), {"a": {"x": 1, "z": 2}}, name="class of an enclosing function"),
    signature(of_text(), {"a": {"x": 1}, "b": [None]}, name="annotations within annotations"),
]


SOURCE = """
from typing import TypedDict
from pydantic import BaseModel

type Pair[A, B] = tuple[A, B]
type Nest = int | list[Nest]

class Bag[T](BaseModel):
    content: T
    others: list[T] = []

class Row[T](TypedDict):
    cells: list[T]

def bounded[T: int](a: T) -> str: return repr(a)
def generic_alias(a: Pair[int, str]) -> str: return repr(a)
def recursive_alias(a: Nest) -> str: return repr(a)
def model(a: Bag[int]) -> Bag[int]: return a
def typed_dict(a: Row[int]) -> Row[int]: return a
"""
NEWER: dict[str, list[dict[str, Any]]] = {
    "bounded": [{"a": 1}, {"a": "x"}],
    "generic_alias": [{"a": [1, "x"]}, {"a": [1]}],
    "recursive_alias": [{"a": [[1], 2]}, {"a": [None]}],
    "model": [{"a": {"content": 1}}, {"a": {"content": "x"}}],
    "typed_dict": [{"a": {"cells": [1]}}, {"a": {}}],
}
if sys.version_info >= (3, 12):
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(SOURCE, "newer", "exec", dont_inherit=True), namespace)
    CASES += [signature(namespace[name], *calls) for name, calls in NEWER.items()]
