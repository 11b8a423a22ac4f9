"""Weights of critics: numbers, or words whose shares add up to 1."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Protocol, TypeAlias


class EvalError(Exception):
    """A suite is invalid."""


class WeightError(EvalError):
    """A weight is below 0."""


class FuzzyWeight(Enum):
    """The importance of an argument in words. The weight is the share of the value in the sum for all critics."""

    MINIMAL = 1
    VERY_LOW = 2
    LOW = 3
    MEDIUM = 4
    HIGH = 5
    VERY_HIGH = 6
    CRITICAL = 7


Weight: TypeAlias = float | FuzzyWeight


class Weighted(Protocol):
    """An object with a weight, such as a critic."""

    weight: Weight


def number_of(weight: Weight) -> float:
    """Return a weight as a number.

    Raises:
        WeightError: the weight is below 0.
    """
    number = float(weight.value if isinstance(weight, FuzzyWeight) else weight)
    if number < 0:
        raise WeightError(f"the weight {number:g} is below 0: write a weight from 0 to 1, or a FuzzyWeight")
    return number


def validate_and_normalize_critic_weights(critics: Iterable[Weighted]) -> None:
    """Check the weights. If one is a `FuzzyWeight`, replace all by their shares, which add up to 1.

    Args:
        critics: the critics of a case. Their weights may change.

    Raises:
        WeightError: a weight is below 0.
    """
    weighted = [(critic, number_of(critic.weight)) for critic in critics]
    total = sum(number for _, number in weighted)
    if total and any(isinstance(critic.weight, FuzzyWeight) for critic, _ in weighted):
        for critic, number in weighted:
            critic.weight = number / total
