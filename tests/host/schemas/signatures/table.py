"""The shape of the table of signatures: what a tool's function takes and gives, and what clients see of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]
NONE: Any = object()


class Sent(NamedTuple):
    """One call.

    Attributes:
        arguments: what is sent; for a signature of one parameter, its value.
        outcome: the value or, of a refusal, what the model is told after "Invalid arguments:".
        verdict: "takes" and "refuses" are what the schema says as well; "bends" is lax, the schema does not say it;
            "insists" is a refusal that no schema can tell.
    """

    arguments: Any
    outcome: Any
    verdict: Literal["takes", "refuses", "bends", "insists"]


class Case(NamedTuple):
    """One signature.

    Attributes:
        name: of the case.
        function: the tool's.
        properties: the exact schemas of its parameters.
        required: those that callers must give.
        definitions: the exact `$defs`.
        result: the exact output schema.
        calls: what is sent, and what comes of it.
        options: of `@kit.tool`.
    """

    name: str
    function: Callable[..., Any]
    properties: Json
    required: tuple[str, ...]
    definitions: Json
    result: Json | None
    calls: tuple[Sent, ...]
    options: Json


def ok(sent: Any, outcome: Any) -> Sent:
    """What schema and validator both take."""
    return Sent(sent, outcome, "takes")


def bad(sent: Any, told: str) -> Sent:
    """What schema and validator both refuse."""
    return Sent(sent, told, "refuses")


def lax(sent: Any, outcome: Any) -> Sent:
    """What is taken, though the schema does not say so."""
    return Sent(sent, outcome, "bends")


def picky(sent: Any, told: str) -> Sent:
    """What is refused, though the schema does not say so."""
    return Sent(sent, told, "insists")


def absent(outcome: Any) -> Sent:
    """What arrives when nothing is sent."""
    return Sent(NONE, outcome, "takes")


def takes(
    annotation: Any,
    schema: Json,
    *calls: Sent,
    name: str = "",
    defs: Json | None = None,
    default: Any = NONE,
    **options: Any,
) -> Case:
    """A function of one parameter `a`, of this type, which gives what arrived as Python writes it."""

    def function(a: Any) -> str:
        """Take it."""
        return repr(a)

    function.__annotations__["a"] = annotation
    function.__defaults__ = () if default is NONE else (default,)
    wrapped = tuple(one._replace(arguments={} if one.arguments is NONE else {"a": one.arguments}) for one in calls)
    required = ("a",) if default is NONE else ()
    return Case(name or _named(annotation), function, {"a": schema}, required, defs or {}, None, wrapped, options)


def gives(annotation: Any, schema: Json | None, returned: Any, sent: Any, *, name: str = "", **options: Any) -> Case:
    """A function of no parameters that returns this, and what clients are sent of it."""

    def function() -> Any:
        """Give it."""
        return returned

    function.__annotations__["return"] = annotation
    return Case(name or f"-> {_named(annotation)}", function, {}, (), {}, schema, (ok({}, sent),), options)


def signature(
    function: Callable[..., Any],
    properties: Json,
    *calls: Sent,
    required: tuple[str, ...] = (),
    defs: Json | None = None,
    result: Json | None = None,
    name: str = "",
    **options: Any,
) -> Case:
    """A function as it was written."""
    name = name or getattr(function, "__name__", type(function).__name__)
    options = {"description": "Do it.", **options}
    return Case(name, function, properties, required, defs or {}, result, calls, options)


def _named(annotation: Any) -> str:
    text = (
        annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else str(annotation)
    )
    return text.replace("typing.", "").replace("typing_extensions.", "").rpartition("types_of_tests.")[2]
