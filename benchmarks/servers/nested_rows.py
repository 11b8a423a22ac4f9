"""Tools with rows that contain lists and objects, for `pegboard stdio nested_rows.py`."""

from __future__ import annotations

from typing_extensions import TypedDict

from pegboard import Toolkit

kit = Toolkit("rows")


class Place(TypedDict):
    """A nested object."""

    city: str
    latitude: float
    longitude: float


class Visit(TypedDict):
    """An item of a nested list."""

    day: int
    minutes: int


class Row(TypedDict):
    """A row."""

    id: int
    name: str
    tags: list[str]
    place: Place
    visits: list[Visit]


@kit.tool(inline=True)
def give(count: int) -> list[Row]:
    """Return rows."""
    return [
        Row(
            id=number,
            name=f"name {number} of the list",
            tags=["red", f"number {number % 7}", "large"],
            place=Place(city=f"Berlin number {number % 97}", latitude=number / 4, longitude=13.5),
            visits=[Visit(day=day, minutes=number * day) for day in range(3)],
        )
        for number in range(count)
    ]


@kit.tool(inline=True)
def take(rows: list[Row]) -> int:
    """Count rows."""
    return len(rows)
