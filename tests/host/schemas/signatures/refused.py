"""Definitions that are rejected, with the messages for their authors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from pegboard import Context
from tests.host.schemas.signatures.types_of_tests import Color, Flat, Same

if TYPE_CHECKING:
    from decimal import Decimal


HERE = __name__
NO_SCHEMA = "has no JSON Schema: use plain data, a TypedDict, a dataclass or a pydantic model"
ITERATED = (
    "cannot be served: its items would not be validated. "
    "Use list[...], or Sequence[...] for a list that must not change"
)
NOT_FOUND = (
    "which is not found. Import or define it at the top of the module, "
    "not inside a function or below `if TYPE_CHECKING`"
)
ALIKE = (
    "Flat and Same have the same members, so their values cannot be distinguished. "
    'Add a field with its own Literal to each, and Field(discriminator="that field") to the union'
)
CHOICES = "no JSON value can be converted to <Color.RED: 'red'>: use strings or numbers as choices"
NO_LENGTH = "int has no length to limit: limit values with ge and le (MinLen(min_length=1))"
GENERATOR = "it is a generator: return a list, and report progress with `context.progress.report`"


class Opaque:
    """A class without a schema."""


class Explosive:
    """A type whose schema cannot be generated."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise RuntimeError("no description today")


class Owner(BaseModel):
    home: Flat | Same


class Kit:
    def method(self, a: int) -> int:
        return a

    @classmethod
    def of_class(cls, a: int) -> int:
        return a


def any_number(*numbers: int) -> None: ...
def positional(a: int, /, b: int) -> None: ...
def unannotated(path, b: int = 1) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def two_contexts(first: Context, second: Context) -> None: ...
def renamed_to_nothing(a: Annotated[str, " ", "text"]) -> None: ...
def same_name(a: int, b: Annotated[int, "a", "the same"]) -> None: ...
def same_alias(a: int, b: int = Field(alias="a")) -> None: ...
def opaque(a: int, b: Opaque) -> None: ...
def explosive(b: Explosive) -> None: ...
def a_class(b: type[int]) -> None: ...
def iterable(b: Iterable[int]) -> None: ...
def member_choice(b: Literal[Color.RED]) -> None: ...
def alike(b: Flat | Same) -> None: ...
def alike_in_a_model(b: Owner) -> None: ...
def inapplicable(b: Annotated[int, Field(min_length=1)]) -> None: ...
def wrong_pattern(b: Annotated[str, Field(pattern="(")]) -> None: ...
def infinite_bound(b: Annotated[float, Field(le=float("inf"))]) -> None: ...
def only_for_checkers(b: Decimal) -> None: ...
def unknown(b: list[Nothing]) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def gives_opaque() -> Opaque: ...  # type: ignore[empty-body]
def generates(count: int) -> Iterator[int]:
    yield count


async def generates_later(count: int) -> AsyncIterator[int]:
    yield count


def not_an_expression(b: "1/0") -> None: ...  # type: ignore[valid-type]  # noqa: UP037


def local() -> Callable[..., Any]:
    class Local(BaseModel):
        x: int

    def function(a: Local) -> int:
        return 1

    return function


NOWHERE = (iter, 5)
"""Objects that are not defined in a file."""

REFUSED: list[tuple[Any, str]] = [
    (any_number, "parameter 'numbers' accepts any number of arguments: declare each argument"),
    (positional, "parameter 'a' is positional-only: remove the `/` after it"),
    (unannotated, "parameter 'path' has no type annotation: add one, such as `path: str`"),
    (lambda a: a, "parameter 'a' has no type annotation: add one, such as `a: str`"),
    (Kit.method, "parameter 'self' has no type annotation: it seems to be a method: make a tool of `object.method`"),
    (vars(Kit)["of_class"], "it is a class method without its class: use `Class.method`"),
    (Opaque, "Opaque is a class: decorate a function, or add an instance that has `__call__`"),
    (iter, "its signature cannot be read: wrap it in a function"),
    (5, "5 is not a function"),
    (two_contexts, "parameters 'first' and 'second' both receive the Context: remove one"),
    (renamed_to_nothing, "parameter 'a' is renamed to ' ': use a name that is not blank"),
    (same_name, "two parameters have the name 'a': rename one parameter"),
    (same_alias, "parameters 'a' and 'b' have the same argument name 'a': rename one argument"),
    (opaque, f"parameter 'b': the type {HERE}.Opaque {NO_SCHEMA}"),
    (explosive, "parameter 'b': no description today"),
    (a_class, "parameter 'b': the type type[int] cannot be served: JSON cannot express classes"),
    (iterable, f"parameter 'b': the type collections.abc.Iterable[int] {ITERATED}"),
    (member_choice, f"parameter 'b': the type Literal[<Color.RED: 'red'>] cannot be served: {CHOICES}"),
    (alike, f"parameter 'b': {ALIKE}"),
    (alike_in_a_model, f"the type Owner: {ALIKE}"),
    (inapplicable, f"parameter 'b': the type int cannot be served: {NO_LENGTH}"),
    (wrong_pattern, "parameter 'b': regex parse error: ( ^ error: unclosed group"),
    (
        infinite_bound,
        "parameter 'b': its schema contains NaN or infinity, which JSON does not support; remove that bound",
    ),
    (only_for_checkers, f"parameter 'b': the annotation 'Decimal' names 'Decimal', {NOT_FOUND}"),
    (unknown, f"parameter 'b': the annotation 'list[Nothing]' names 'Nothing', {NOT_FOUND}"),
    (not_an_expression, "parameter 'b': the annotation \"'1/0'\" cannot be resolved: division by zero"),
    (local(), f"parameter 'a': the annotation 'Local' names 'Local', {NOT_FOUND}"),
    (gives_opaque, f"the result: the type {HERE}.Opaque {NO_SCHEMA}"),
    (generates, GENERATOR),
    (generates_later, GENERATOR),
]
