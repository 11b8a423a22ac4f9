"""Types that the signatures use."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Generic, Literal, NamedTuple, NewType, TypeVar

import typing_extensions
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, computed_field, field_serializer
from typing_extensions import NotRequired, TypedDict

T = TypeVar("T")
UserId = NewType("UserId", int)
JsonValue = typing_extensions.TypeAliasType("JsonValue", "int | str | None | list[JsonValue] | dict[str, JsonValue]")  # noqa: RUF036


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Unit(enum.StrEnum):
    METRE = "m"
    FOOT = "ft"


class Pair(enum.Enum):
    LEFT = (1, 2)
    RIGHT = (3, 4)


class Right(enum.Flag, boundary=enum.STRICT):  # Python 3.11.2 and older have another default
    READ = 1
    WRITE = 2
    OWN = 4


class Mode(enum.IntFlag):
    X = 1
    W = 2


class Options(TypedDict):
    """How to look."""

    depth: int
    label: NotRequired[str]


class Page(TypedDict, Generic[T]):
    items: list[T]


class Blob(BaseModel):
    data: bytes
    more: list[Blob] = []


class Node(TypedDict):
    name: str
    children: list[Node]


class Spot(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Size:
    """How large."""

    width: int
    height: int = 1
    marks: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Chain:
    value: int
    rest: Chain | None = None


class Point(BaseModel):
    """A point."""

    x: Annotated[int, Field(ge=0, description="to the right")]
    y: int = 0


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Strict(BaseModel, strict=True):
    number: int
    color: Color = Color.RED


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_id: int = Field(alias="userId")
    full_name: str = Field("x", serialization_alias="fullName")
    mail: str = Field("", validation_alias="e-mail")
    phone: str = Field("", validation_alias=AliasChoices("phone", "tel"))


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


class Flat(BaseModel):
    side: float


class Round(BaseModel):
    radius: float


class Same(BaseModel):
    side: Annotated[float, Field(description="told otherwise")]
