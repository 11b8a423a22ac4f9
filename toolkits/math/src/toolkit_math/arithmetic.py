"""Arithmetic, powers and rounding with decimals: 0.1 + 0.2 is 0.3."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Annotated, Literal

from pydantic import Field

from pegboard import RetryableToolError
from toolkit_math.kit import DIGITS, MAX_DIGITS, Number, calculates, exactly, rounded

Numbers = Annotated[Sequence[Number], Field(min_length=1, max_length=10_000)]
_DECIMALS = 100
_WAYS = {"half_up": ROUND_HALF_UP, "half_even": ROUND_HALF_EVEN, "up": ROUND_CEILING, "down": ROUND_FLOOR}


@calculates("Add")
def add(numbers: Numbers) -> Decimal:
    """Add numbers, exactly."""
    return exactly(lambda context: reduce(context.add, numbers))


@calculates("Subtract")
def subtract(a: Number, b: Annotated[Number, "the number to subtract"]) -> Decimal:
    """Subtract one number from another, exactly."""
    return exactly(lambda context: context.subtract(a, b))


@calculates("Multiply")
def multiply(numbers: Numbers) -> Decimal:
    """Multiply numbers, exactly."""
    return exactly(lambda context: reduce(context.multiply, numbers))


@calculates("Divide")
def divide(a: Number, b: Annotated[Number, "the divisor, not 0"]) -> Decimal:
    """Divide one number by another, to 50 significant digits."""
    return rounded(lambda context: context.divide(a, b))


@calculates("Remainder")
def remainder(a: Number, b: Annotated[Number, "the divisor, not 0"]) -> Decimal:
    """Return the exact remainder of a / b, with the sign of b."""
    if not b:
        raise RetryableToolError("Division by zero is undefined: use another divisor or base.")
    left = exactly(lambda context: context.remainder(a, b))
    return exactly(lambda context: context.add(left, b)) if left and (left < 0) != (b < 0) else left


@calculates("Power")
def power(base: Number, exponent: Number) -> Decimal:
    """Raise a number to a power.

    The result has up to 1,000 significant digits for whole exponents, else 50.
    A negative base requires a whole exponent.
    """
    is_whole = exponent == exponent.to_integral_value()
    return rounded(lambda context: context.power(base, exponent), MAX_DIGITS if is_whole else DIGITS)


@calculates("Square root")
def square_root(number: Annotated[Number, Field(ge=0)]) -> Decimal:
    """Return the square root of a number, to 50 significant digits."""
    return rounded(lambda context: context.sqrt(number))


@calculates("Logarithm")
def logarithm(
    number: Annotated[Number, Field(gt=0)],
    base: Annotated[Annotated[Number, Field(gt=0)] | None, "base e (natural logarithm) if omitted"] = None,
) -> Decimal:
    """Return the logarithm of a number, to 50 significant digits."""
    if base is None:
        return rounded(lambda context: context.ln(number))
    return rounded(lambda context: context.divide(context.ln(number), context.ln(base)))


@calculates("Round")
def round_number(
    number: Number,
    digits: Annotated[int, Field(ge=-_DECIMALS, le=_DECIMALS), "digits after the point; -2 rounds to hundreds"] = 0,
    mode: Annotated[Literal["half_up", "half_even", "up", "down"], "up and down as on the number line"] = "half_up",
) -> Decimal:
    """Round a number."""
    unit = Decimal(1).scaleb(-digits)
    return rounded(lambda context: number.quantize(unit, _WAYS[mode], context), MAX_DIGITS)
