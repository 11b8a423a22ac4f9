"""A form with choices: one of several, several of several, and choices with titles for people."""

from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pegboard import Context, Toolkit

kit = Toolkit("coffee")


class Size(Enum):
    """How much of it."""

    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    """The form."""

    size: Size = Size.SMALL
    milk: (
        Annotated[Literal["none"], Field(title="black")]
        | Annotated[Literal["cow"], Field(title="with milk")]
        | Annotated[Literal["oat"], Field(title="with oat milk")]
    ) = "none"
    extras: list[Literal["sugar", "cocoa", "cinnamon"]] = []


@kit.tool
async def order(context: Context) -> str:
    """Take an order."""
    answer = await context.ui.elicit("What may it be?", Order)
    if answer.content is None:  # declined, or closed without a word
        return "No coffee."
    wanted = answer.content
    return f"{wanted.size.value}, {wanted.milk}, {' and '.join(wanted.extras) or 'nothing else'}"


if __name__ == "__main__":
    kit.run()
