"""Whole numbers: what divides them, and what they divide."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from toolkit_math.kit import calculates

_LARGEST = 2**53 - 1
"""The largest whole number that every JSON reader keeps."""
Whole = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
Several = Annotated[Sequence[Whole], Field(min_length=2, max_length=100)]


@calculates("Greatest common divisor")
def greatest_common_divisor(numbers: Several) -> int:
    """The largest whole number that divides all of them."""
    return math.gcd(*numbers)


@calculates("Least common multiple")
def least_common_multiple(numbers: Several) -> Decimal:
    """The smallest positive whole number that all of them divide; 0 when one of them is 0."""
    return Decimal(math.lcm(*numbers))


@calculates("Factorial")
def factorial(number: Annotated[int, Field(ge=0, le=1000)]) -> Decimal:
    """The product of all whole numbers from 1 to this one, exactly."""
    return Decimal(math.factorial(number))


@calculates("Prime factors")
def prime_factors(number: Annotated[int, Field(ge=1, le=10**10)]) -> list[int]:
    """The primes whose product a number is, in order, each as often as it divides it; none for 1."""
    found = []
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor:
            divisor += 1 + (divisor > 2)
        else:
            found.append(divisor)
            number //= divisor
    return [*found, number] if number > 1 else found
