"""The return type is the output schema: clients get structured content that is held against it.

$ pegboard call --file output_schema.py weather_forecast city=Bern
{
"city": "Bern",
"days": [
{
"day": "2026-07-28",
"degrees": 27.5
}
]
}
"""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from pegboard import Toolkit

kit = Toolkit("weather")


class Day(BaseModel):
    """One day."""

    day: date
    degrees: Annotated[float, Field(description="Celsius")]


class Forecast(BaseModel):
    """What comes."""

    city: str
    days: list[Day]


@kit.tool
def forecast(city: str) -> Forecast:
    """Forecast the weather of a city."""
    return Forecast(city=city, days=[Day(day=date(2026, 7, 28), degrees=27.5)])


if __name__ == "__main__":
    kit.run()
