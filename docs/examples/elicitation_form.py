"""A tool asks the user to fill in a form; what must not happen twice stands in `context.once`."""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from pegboard import Context, Toolkit

kit = Toolkit("table")


class Guests(BaseModel):
    """The form: its fields are flat."""

    name: Annotated[str, Field(min_length=1)]
    day: date
    people: Annotated[int, Field(ge=1, le=8)] = 2


async def reserve(name: str, day: str, people: int) -> str:
    """Make a reservation, once."""
    return f"{people} people, {day}, {name}"


@kit.tool
async def book(restaurant: str, context: Context) -> str:
    """Book a table."""
    answer = await context.ui.elicit(f"Your table at {restaurant}:", Guests)
    if answer.content is None:  # declined, or closed without a word
        return "Nothing is booked."
    guests = answer.content
    booked = await context.once("reserve", reserve, guests.name, str(guests.day), guests.people)
    sure = await context.ui.elicit(f"{booked}: shall I confirm it?", bool)
    return f"{booked}: {'confirmed' if sure.content else 'reserved'}"


if __name__ == "__main__":
    kit.run()
