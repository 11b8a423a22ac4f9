"""Signatures by their form: names, defaults, kinds of parameters, and everything that can be called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field
from typing_extensions import ParamSpec

from pegboard import Context, Inferrable
from tests.host.schemas.signatures.table import Case, bad, lax, ok, signature
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


def marked(a: Annotated[str, Inferrable(False)], b: Annotated[Color, "which", Inferrable(False)] = Color.RED) -> str:
    return f"{a} {b.value}"


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
    signature(none, {}, ok({}, "nothing"), bad({"more": 1}, "more is not a parameter of this tool")),
    signature(
        keyword_only,
        {"a": {"type": "integer"}, "b": {"default": "x", "type": "string"}, "c": {"type": "boolean"}},
        ok({"a": 1, "c": True}, [1, "x", True]),
        bad({"a": 1}, "c is required"),
        bad({"a": 1, "c": True, "d": 1}, "d is not a parameter of this tool"),
        required=("a", "c"),
        result={"items": {}, "type": "array"},
    ),
    signature(
        asynchronous,
        {"a": {"type": "integer"}, "b": {"default": [1], "items": {"type": "integer"}, "type": "array"}},
        ok({"a": 1}, 2),
        ok({"a": 1, "b": []}, 1),
        lax({"a": "1"}, 2),
        required=("a",),
        result={"type": "integer"},
    ),
    signature(
        default_of_another_type,
        {"a": {"default": "many", "type": "integer"}},
        ok({}, "'many'"),
        bad({"a": "many"}, "a: must be an integer"),
        bad({"a": None}, "a: must be an integer"),
    ),
    signature(
        fields,
        {
            "a": {"default": 7, "description": "the a", "minimum": 5, "type": "integer"},
            "b": {"minLength": 2, "type": "string"},
            "c": {"items": {"type": "integer"}, "type": "array"},
            "d": {"default": 2, "examples": [1], "maximum": 3, "title": "The D", "type": "integer"},
        },
        ok({"b": "xy"}, [7, "xy", [1], 2]),
        bad(
            {"b": "x", "a": 1, "d": 4},
            "a: must be at least 5\nb: must have at least 2 characters\nd: must be at most 3",
        ),
        bad({}, "b is required"),
        required=("b",),
        result={"items": {}, "type": "array"},
    ),
    signature(
        renamed,
        {
            "type": {"description": "what kind", "type": "string"},
            "class": {"default": 1, "description": "which", "type": "integer"},
        },
        ok({"type": "a", "class": 2}, "a 2"),
        ok({"type": "a"}, "a 1"),
        bad({"kind": "a"}, "type is required\nkind is not a parameter of this tool"),
        bad({"type": "a", "class_": 1}, "class_ is not a parameter of this tool; did you mean 'class'?"),
        required=("type",),
    ),
    signature(
        aliased,
        {"type": {"type": "string"}, "Size": {"default": 1, "minimum": 0, "type": "integer"}},
        ok({"type": "a", "Size": 2}, "a 2"),
        bad({"type": "a", "size": 2}, "size is not a parameter of this tool; did you mean 'Size'?"),
        bad({"type": "a", "Size": -1}, "Size: must be at least 0"),
        required=("type",),
    ),
    signature(
        renamed_model,
        {"place": {"$ref": "#/$defs/Point", "description": "where it is"}},
        ok({"place": {"x": 1}}, 1),
        bad({"place": {}}, "place.x is required"),
        required=("place",),
        result={"type": "integer"},
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
    signature(
        with_context,
        {"a": {"type": "integer"}},
        ok({"a": 1}, "1 kit_tool"),
        bad({"a": 1, "context": {}}, "context is not a parameter of this tool"),
        required=("a",),
    ),
    signature(with_annotated_context, {"a": {"type": "integer"}}, ok({"a": 1}, "1 True"), required=("a",)),
    signature(
        marked,
        {
            "a": {"type": "string", "x-inferrable": False},
            "b": {"$ref": "#/$defs/Color", "default": "red", "description": "which", "x-inferrable": False},
        },
        ok({"a": "x"}, "x red"),
        bad({}, "a is required"),
        required=("a",),
        defs={"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
    ),
    signature(
        awkward,
        {
            "self": {"type": "integer"},
            "cls": {"type": "integer"},
            "func": {"type": "integer"},
            "context": {"type": "integer"},
            "arguments": {"type": "integer"},
            "definition": {"type": "integer"},
            "schema": {"type": "integer"},
            "_x": {"type": "integer"},
            "__y": {"type": "integer"},
            "class_": {"type": "integer"},
            "model_config": {"type": "integer"},
            "model_fields": {"type": "integer"},
            "copy": {"type": "integer"},
            "dict": {"type": "integer"},
            "json": {"type": "integer"},
            "items": {"type": "integer"},
            "validate": {"type": "integer"},
            "input_model": {"type": "integer"},
            "output_model": {"type": "integer"},
            "name": {"type": "integer"},
            "type": {"type": "integer"},
            "id": {"type": "integer"},
        },
        ok(dict.fromkeys(AWKWARD, 1), 22),
        bad(
            dict.fromkeys(AWKWARD, "x"),
            (
                "self: must be an integer\n"
                "cls: must be an integer\n"
                "func: must be an integer\n"
                "context: must be an integer\n"
                "arguments: must be an integer\n"
                "definition: must be an integer\n"
                "schema: must be an integer\n"
                "_x: must be an integer\n"
                "__y: must be an integer\n"
                "class_: must be an integer\n"
                "and 12 more"
            ),
        ),
        required=(
            "self",
            "cls",
            "func",
            "context",
            "arguments",
            "definition",
            "schema",
            "_x",
            "__y",
            "class_",
            "model_config",
            "model_fields",
            "copy",
            "dict",
            "json",
            "items",
            "validate",
            "input_model",
            "output_model",
            "name",
            "type",
            "id",
        ),
        result={"type": "integer"},
    ),
    signature(
        everything,
        {
            "point": {"$ref": "#/$defs/Point"},
            "size": {"$ref": "#/$defs/Size"},
            "options": {"$ref": "#/$defs/Options"},
            "colors": {"items": {"$ref": "#/$defs/Color"}, "type": "array"},
            "table": {
                "additionalProperties": {
                    "items": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
                    "type": "array",
                },
                "type": "object",
            },
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        ok(
            {
                "point": {"x": 1},
                "size": {"width": 2},
                "options": {"depth": 3},
                "colors": ["red"],
                "table": {"a": [{"x": 1}]},
            },
            {"kinds": ["Point", "Size", "dict", "Color", "Point"], "sum": 6, "note": None},
        ),
        bad(
            {"point": {"x": -1}, "size": {}, "options": 1, "colors": ["x"], "table": {"a": [5]}, "note": 5},
            (
                "point.x: must be at least 0\n"
                "size.width is required\n"
                "options: must be an object\n"
                "colors.0: must be 'red' or 'blue'\n"
                "table.a.0: must be an object\n"
                "note: must be a string"
            ),
        ),
        required=("point", "size", "options", "colors", "table"),
        result={"additionalProperties": True, "type": "object"},
        defs={
            "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
            "Options": {
                "additionalProperties": False,
                "description": "How to look.",
                "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["depth"],
                "title": "Options",
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
    signature(GREETER.greet, {"name": {"type": "string"}}, ok(YOU, "hi you"), name="method", required=("name",)),
    signature(
        GREETER.greet_later,
        {"name": {"type": "string"}},
        ok(YOU, "hi you, later"),
        name="async method",
        required=("name",),
    ),
    signature(Greeter.shout, {"name": {"type": "string"}}, ok(YOU, "YOU"), name="class method", required=("name",)),
    signature(Greeter.whisper, {"name": {"type": "string"}}, ok(YOU, "you"), name="static method", required=("name",)),
    signature(
        GREETER,
        {"name": {"type": "string"}, "times": {"default": 1, "type": "integer"}},
        ok({"name": "you", "times": 2}, "hi youhi you"),
        name="object",
        required=("name",),
    ),
    signature(
        AsyncGreeter(), {"name": {"type": "string"}}, ok(YOU, "later, you"), name="async object", required=("name",)
    ),
    signature(
        GREETER.part,
        {},
        ok({}, "hi all"),
        bad({"name": "x"}, "name is not a parameter of this tool"),
        name="partial method",
    ),
    signature(
        wrapped,
        {
            "name": {"type": "string"},
            "point": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": None},
        },
        ok({"name": "you", "point": {"x": 1}}, "wrapped you x=1 y=0"),
        name="wrapped",
        required=("name",),
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
    signature(
        wrapped_twice,
        {"name": {"type": "string"}},
        ok(YOU, "twice you"),
        name="wrapped twice, async",
        required=("name",),
    ),
    signature(
        functools.partial(join, "hi"),
        {"name": {"type": "string"}, "end": {"default": "!", "type": "string"}},
        ok(YOU, "hi you!"),
        ok({"name": "you", "end": "?"}, "hi you?"),
        name="partial",
        required=("name",),
    ),
    signature(
        functools.partial(join, "hi", end="?"),
        {"name": {"type": "string"}},
        ok(YOU, "hi you?"),
        bad({"name": "you", "end": "."}, "end is not a parameter of this tool"),
        name="partial of a keyword",
        required=("name",),
    ),
    signature(
        functools.partial(functools.partial(join, end="?"), greeting="oh"),
        {"name": {"type": "string"}},
        ok(YOU, "oh you?"),
        name="partial of a partial",
        required=("name",),
    ),
    signature(
        functools.partial(GREETER, times=2),
        {"name": {"type": "string"}},
        ok(YOU, "hi youhi you"),
        name="partial of an object",
        required=("name",),
    ),
    signature(
        enclosed(),
        {"a": {"$ref": "#/$defs/Depth"}},
        ok({"a": {"x": 1, "z": 2}}, "Depth(x=1, y=0, z=2)"),
        name="class of an enclosing function",
        required=("a",),
        defs={
            "Depth": {
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                    "z": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Depth",
                "type": "object",
            }
        },
    ),
    signature(
        of_text(),
        {
            "a": {"$ref": "#/$defs/Point"},
            "b": {"default": [], "items": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}]}, "type": "array"},
        },
        ok({"a": {"x": 1}, "b": [None]}, 2),
        name="annotations within annotations",
        required=("a",),
        result={"type": "integer"},
        defs={
            "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
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
]
