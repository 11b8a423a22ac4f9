"""What holds for all numbers: sums and products are exact, remainders and primes are what they say."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from toolkit_math import arithmetic, whole_numbers
from toolkit_math.kit import MAX_DIGITS

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20)


@given(st.lists(DECIMALS, min_size=1, max_size=20))
def test_sums_and_products_are_exact(numbers: list[Decimal]) -> None:
    assert Fraction(arithmetic.add(numbers)) == sum(map(Fraction, numbers))
    assert Fraction(arithmetic.multiply(numbers)) == math.prod(map(Fraction, numbers))


@given(DECIMALS, DECIMALS.filter(bool))
def test_a_remainder_is_what_division_leaves(a: Decimal, b: Decimal) -> None:
    assert Fraction(arithmetic.remainder(a, b)) == Fraction(a) % Fraction(b)


@given(st.integers(1, 10**8))
def test_primes_make_up_the_number(number: int) -> None:
    primes = whole_numbers.prime_factors(number)
    assert math.prod(primes) == number
    assert all(all(prime % divisor for divisor in range(2, min(prime, 200))) for prime in primes)


def test_the_longest_exact_result_is_given() -> None:
    longest = Decimal("9" * MAX_DIGITS)
    assert arithmetic.add([longest, Decimal(0)]) == longest
    shuffled = [Decimal(number) for number in random.sample(range(10_000), 10_000)]
    assert arithmetic.add(shuffled) == sum(range(10_000))
