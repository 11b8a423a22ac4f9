"""Statistics of many numbers."""

from collections.abc import Sequence
from decimal import Context, Decimal
from functools import reduce
from typing import Annotated

from pydantic import BaseModel, Field

from toolkit_math.arithmetic import Numbers
from toolkit_math.kit import calculates, exactly, rounded


class Statistics(BaseModel):
    """Statistics. For a single number, variance and standard_deviation are null."""

    count: int
    sum: Decimal
    mean: Decimal
    median: Decimal
    smallest: Decimal
    largest: Decimal
    variance: Annotated[Decimal | None, Field(description="of a sample (n - 1)")]
    standard_deviation: Annotated[Decimal | None, Field(description="of a sample (n - 1)")]


@calculates("Statistics")
def statistics(numbers: Numbers) -> Statistics:
    """Return count, sum, mean, median, extremes, variance and standard deviation, to 50 significant digits."""
    ordered = sorted(numbers)
    total = exactly(lambda context: reduce(context.add, ordered))
    mean = rounded(lambda context: context.divide(total, Decimal(len(ordered))))
    variance = _variance(ordered, mean) if len(ordered) > 1 else None
    return Statistics(
        count=len(ordered),
        sum=total,
        mean=mean,
        median=_median(ordered),
        smallest=ordered[0],
        largest=ordered[-1],
        variance=variance,
        standard_deviation=None if variance is None else rounded(lambda context: context.sqrt(variance)),
    )


def _median(ordered: Sequence[Decimal]) -> Decimal:
    below, above = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return rounded(lambda context: context.divide(context.add(below, above), Decimal(2)))


def _variance(numbers: Sequence[Decimal], mean: Decimal) -> Decimal:
    def operation(context: Context) -> Decimal:
        distances = (context.subtract(number, mean) for number in numbers)
        squares = reduce(context.add, (context.multiply(distance, distance) for distance in distances))
        return context.divide(squares, Decimal(len(numbers) - 1))

    return rounded(operation)
