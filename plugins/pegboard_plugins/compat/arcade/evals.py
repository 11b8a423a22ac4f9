"""The critic that toolkits import, under the names of `arcade_evals`. pegboard runs no evaluations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class BinaryCritic:
    """Compares an argument that a model chose with the expected one.

    Attributes:
        critic_field: the name of the argument.
        weight: the score of an equal argument.
    """

    critic_field: str
    weight: float = 1.0

    def cast_actual(self, expected: Any, actual: Any) -> Any:
        """Return the actual argument as the type of the expected one.

        Raises:
            TypeError: the argument cannot be converted.
        """
        try:
            return actual if expected is None else type(expected)(actual)
        except ValueError as error:
            raise TypeError(f"{actual!r} is not of the type of {expected!r}: correct the expected argument") from error

    def evaluate(self, expected: Any, actual: Any) -> dict[str, Any]:
        """Return whether the arguments are equal, and the score."""
        match = bool(self.cast_actual(expected, actual) == expected)
        return {"match": match, "score": self.weight if match else 0.0}
