"""Functions whose annotations are objects, not text: this module lacks the `annotations` future on purpose."""

from typing import Annotated, Optional

from pegboard import Context
from tests.host.sample_types import Point


def as_objects(a: int, b: Annotated[str, "name", "text"] = "x", point: Optional[Point] = None) -> Point:
    raise NotImplementedError


def with_object(a: int, context: Optional[Context] = None) -> None:
    raise NotImplementedError
