"""Signatures by their form: names, defaults, kinds of parameters, and callables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field
from typing_extensions import ParamSpec, TypedDict

from pegboard import Context, Inferrable
from tests.host.schemas.signatures.table import Case, signature
from tests.host.schemas.signatures.types_of_tests import Color, Options, Point, Size

P = ParamSpec("P")
R = TypeVar("R")


def none() -> str:
    return "nothing"


def keyword_only(a: int, *, b: str = "x", c: bool) -> list[Any]:
    return [a, b, c]


async def asynchronous(a: int, b: list[int] = [1]) -> int:  # noqa: B006
    return a + sum(b)


def default_of_another_type(a: int = "many") -> str:  # type: ignore[assignment]
    return repr(a)


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


def renamed_model(where: Annotated[Point, "place", "where it is"]) -> int:
    return where.x


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
    renamed: Annotated[int, "class", "the class", Inferrable(False)] = 1,
    free: Annotated[str, Inferrable()] = "",
) -> str:
    return f"{a} {card['digits']} {b.value} {renamed} {free}"


def awkward(
    self: int, cls: int, func: int, context: int, arguments: int, definition: int, schema: int, _x: int, __y: int,
    class_: int, model_config: int, model_fields: int, copy: int, dict: int, json: int, items: int, validate: int,
    input_model: int, output_model: int, name: int, type: int, id: int,
) -> int:  # fmt: skip
    return (
        self + cls + func + context + arguments + definition + schema + _x + __y + class_ + model_config + model_fields
        + copy + dict + json + items + validate + input_model + output_model + name + type + id
    )  # fmt: skip


AWKWARD = list(awkward.__code__.co_varnames[: awkward.__code__.co_argcount])


def everything(
    point: Point,
    size: Size,
    options: Options,
    colors: list[Color],
    table: dict[str, list[Point | None]],
    note: str | None = None,
) -> dict[str, Any]:
    return {
        "kinds": [type(one).__name__ for one in (point, size, options, colors[0], table["a"][0])],
        "sum": point.x + size.width + options["depth"],
        "note": note,
    }


class Greeter:
    """Greets."""

    def __init__(self, word: str) -> None:
        self.word = word

    def greet(self, name: str) -> str:
        return f"{self.word} {name}"

    async def greet_later(self, name: str) -> str:
        return f"{self.word} {name}, later"

    @classmethod
    def shout(cls, name: str) -> str:
        return name.upper()

    @staticmethod
    def whisper(name: str) -> str:
        return name.lower()

    part = functools.partialmethod(greet, name="all")

    def __call__(self, name: str, *, times: int = 1) -> str:
        return f"{self.word} {name}" * times


class AsyncGreeter:
    """Greets later."""

    async def __call__(self, name: str) -> str:
        return f"later, {name}"


GREETER = Greeter("hi")


def traced(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    return wrapper


@traced
def wrapped(name: str, point: Point | None = None) -> str:
    return f"wrapped {name} {point}"


@traced
@traced
async def wrapped_twice(name: str) -> str:
    return f"twice {name}"


def join(greeting: str, name: str, end: str = "!") -> str:
    return f"{greeting} {name}{end}"


def enclosed() -> Callable[..., Any]:
    class Local:
        def __init__(self, x: int) -> None:
            self.x = x

    class Depth(Point):
        z: int = 0

    def closing(a: Depth) -> str:
        return repr(Depth(x=a.x, z=a.z))

    return closing


def of_text() -> Callable[..., Any]:
    def function(a: "Point", b: "list[Color | None]" = []) -> "int":  # noqa: B006, UP037
        return a.x + len(b)

    return function


NAME = {"name": {"type": "string"}}
YOU = {"name": "you"}

CASES: list[Case] = [
    signature(none, {}, {"more": 1}),
    signature(keyword_only, {"a": 1, "c": True}, {"a": 1}, {"a": 1, "c": True, "d": 1}),
    signature(asynchronous, {"a": 1}, {"a": 1, "b": []}, {"a": "1"}),
    signature(default_of_another_type, {}, {"a": "many"}, {"a": None}),
    signature(fields, {"b": "xy"}, {"b": "x", "a": 1, "d": 4}, {}),
    signature(renamed, {"type": "a", "class": 2}, {"type": "a"}, {"kind": "a"}, {"type": "a", "class_": 1}),
    signature(aliased, {"type": "a", "Size": 2}, {"type": "a", "size": 2}, {"type": "a", "Size": -1}),
    signature(renamed_model, {"place": {"x": 1}}, {"place": {}}),
    signature(with_context, {"a": 1}, {"a": 1, "context": {}}),
    signature(with_annotated_context, {"a": 1}),
    signature(marked, {"a": "x", "card": {"digits": "1", "note": ""}, "class": 2}, {}),
    signature(awkward, dict.fromkeys(AWKWARD, 1), dict.fromkeys(AWKWARD, "x")),
    signature(
        everything,
        {
            "point": {"x": 1},
            "size": {"width": 2},
            "options": {"depth": 3},
            "colors": ["red"],
            "table": {"a": [{"x": 1}]},
        },
        {"point": {"x": -1}, "size": {}, "options": 1, "colors": ["x"], "table": {"a": [5]}, "note": 5},
    ),
    signature(GREETER.greet, YOU, name="method"),
    signature(GREETER.greet_later, YOU, name="async method"),
    signature(Greeter.shout, YOU, name="class method"),
    signature(Greeter.whisper, YOU, name="static method"),
    signature(GREETER, {"name": "you", "times": 2}, name="object"),
    signature(AsyncGreeter(), YOU, name="async object"),
    signature(GREETER.part, {}, {"name": "x"}, name="partial method"),
    signature(wrapped, {"name": "you", "point": {"x": 1}}, name="wrapped"),
    signature(wrapped_twice, YOU, name="wrapped twice, async"),
    signature(functools.partial(join, "hi"), YOU, {"name": "you", "end": "?"}, name="partial"),
    signature(functools.partial(join, "hi", end="?"), YOU, {"name": "you", "end": "."}, name="partial of a keyword"),
    signature(functools.partial(functools.partial(join, end="?"), greeting="oh"), YOU, name="partial of a partial"),
    signature(functools.partial(GREETER, times=2), YOU, name="partial of an object"),
    signature(enclosed(), {"a": {"x": 1, "z": 2}}, name="class of an enclosing function"),
    signature(of_text(), {"a": {"x": 1}, "b": [None]}, name="annotations within annotations"),
]
