"""Types that the signatures of the tests use; at module level, where annotations written as text find them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, NewType, TypeVar

from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict

T = TypeVar("T")
UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Options(TypedDict):
    depth: int
    label: NotRequired[str]


@dataclass
class Size:
    width: int
    height: int = 1
    marks: list[str] = field(default_factory=list)


class Point(BaseModel):
    """A point."""

    x: Annotated[int, Field(ge=0, description="to the right")]
    y: int = 0


class Tree(BaseModel):
    """A recursive model."""

    name: str
    children: list[Tree] = []


class Box(BaseModel, Generic[T]):
    content: T


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]
