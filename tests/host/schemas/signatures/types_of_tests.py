"""Types that the signatures use."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeAlias, TypeVar

import typing_extensions
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
    with_config,
)
from pydantic.dataclasses import dataclass as checked_dataclass
from typing_extensions import NotRequired, ReadOnly, Required, TypedDict

T = TypeVar("T")
Number = TypeVar("Number", bound=int)
IntOrStr = TypeVar("IntOrStr", int, str)
UserId = NewType("UserId", int)
Tags: TypeAlias = list[str]
JsonValue = typing_extensions.TypeAliasType("JsonValue", "int | str | None | list[JsonValue] | dict[str, JsonValue]")  # noqa: RUF036


# --- enums


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Unit(enum.StrEnum):
    METRE = "m"
    FOOT = "ft"


class Suit(str, enum.Enum):  # noqa: UP042 - people write it
    HEARTS = "H"
    SPADES = "S"


class Ratio(float, enum.Enum):
    HALF = 0.5
    WHOLE = 1.0


class Pair(enum.Enum):
    LEFT = (1, 2)
    RIGHT = (3, 4)


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    OWN = 4


class Mode(enum.IntFlag):
    X = 1
    W = 2


class Auto(enum.Enum):
    FIRST = enum.auto()
    SECOND = enum.auto()


class Single(enum.Enum):
    ONLY = "only"


# --- typed dicts


class Options(TypedDict):
    """How to look."""

    depth: int
    label: NotRequired[str]


class Loose(TypedDict, total=False):
    size: Required[int]
    color: str


class More(Options):
    extra: ReadOnly[Annotated[list[int], "not shown", Field(max_length=2)]]


class Outer(TypedDict):
    inner: Options
    others: list[Options]


class Closed(TypedDict, closed=True):
    x: int


class Page(TypedDict, Generic[T]):
    items: list[T]


class Node(TypedDict):
    name: str
    children: list[Node]


@with_config(ConfigDict(extra="forbid"))
class Sealed(TypedDict):
    x: int


Functional = TypedDict("Functional", {"from": str, "class": NotRequired[int]})


# --- tuples and dataclasses


class Spot(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Size:
    """How large."""

    width: int
    height: int = 1
    marks: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    x: int


@checked_dataclass
class Positive:
    x: Annotated[int, Field(gt=0)]


@dataclasses.dataclass
class Crate(Generic[T]):
    content: T


@dataclasses.dataclass
class Chain:
    value: int
    rest: Chain | None = None


# --- models


class Point(BaseModel):
    """A point."""

    x: Annotated[int, Field(ge=0, description="to the right")]
    y: int = 0


class Line(BaseModel):
    start: Point
    end: Point
    via: list[Point] = []


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Box(BaseModel, Generic[T]):
    content: T


class Strict(BaseModel, strict=True):
    number: int
    color: Color = Color.RED


class Sealing(BaseModel, extra="forbid"):
    x: int


class Open(BaseModel, extra="allow"):
    x: int


class Stone(BaseModel, frozen=True):
    x: int


class Names(RootModel[list[str]]):
    """Some names."""


class Scores(RootModel[dict[str, int]]):
    pass


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_id: int = Field(alias="userId")
    full_name: str = Field("x", serialization_alias="fullName")
    mail: str = Field("", validation_alias="e-mail")
    phone: str = Field("", validation_alias=AliasChoices("phone", "tel"))


class Even(BaseModel):
    number: int
    double: int = 0

    @field_validator("number")
    @classmethod
    def check(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value

    @model_validator(mode="after")
    def fill(self) -> Even:
        self.double = self.number * 2
        return self


class Span(BaseModel):
    first: int
    last: int

    @model_validator(mode="after")
    def check(self) -> Span:
        if self.first > self.last:
            raise ValueError("first must not be greater than last")
        return self


class Circle(BaseModel):
    radius: float

    @computed_field
    def area(self) -> float:
        return self.radius * 2

    @field_serializer("radius")
    def write(self, value: float) -> str:
        return f"{value} m"


class Hidden(BaseModel):
    shown: int
    secret: str = Field("s", exclude=True)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Owner(BaseModel):
    pets: list[Pet]


class Flat(BaseModel):
    side: float


class Round(BaseModel):
    radius: float


class Same(BaseModel):
    side: Annotated[float, Field(description="told otherwise")]


class Documented(BaseModel):
    model_config = ConfigDict(title="A documented one", json_schema_extra={"examples": [{"a": 1}]})

    a: int = Field(title="The A", description="what a is", examples=[1], deprecated=True)


class Counted(BaseModel):
    seen: int = Field(default_factory=lambda: 7)


class Tokens(BaseModel):
    values: Mapping[str, Sequence[int]]
    anything: Any = None
