"""Whole numbers: divisors and multiples."""

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
    """Return the greatest common divisor of whole numbers."""
    return math.gcd(*numbers)


@calculates("Least common multiple")
def least_common_multiple(numbers: Several) -> Decimal:
    """Return the least common multiple of whole numbers, 0 if any of them is 0."""
    return Decimal(math.lcm(*numbers))


@calculates("Factorial")
def factorial(number: Annotated[int, Field(ge=0, le=1000)]) -> Decimal:
    """Return the exact factorial: the product of all whole numbers from 1 to number."""
    return Decimal(math.factorial(number))


@calculates("Prime factors")
def prime_factors(number: Annotated[int, Field(ge=1, le=10**10)]) -> list[int]:
    """Return the prime factors of a number, sorted and with repetitions. The list is empty for 1."""
    primes = []
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor:
            divisor += 1 + (divisor > 2)
        else:
            primes.append(divisor)
            number //= divisor
    return [*primes, number] if number > 1 else primes
