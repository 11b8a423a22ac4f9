"""The mutants of a contract: plugins that each break one rule, and a sound plugin that breaks none."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pegboard_testing import Contract

Faults = list[tuple[Callable[[], Any], str]]
"""Functions that make a faulty plugin, with the rules that these break."""

debug: Any = logging.getLogger("contract").debug


class Mutants(NamedTuple):
    """A contract, a function that makes a sound plugin, the mutants, and the members that its author writes."""

    contract: Any
    sound: Callable[[], Any]
    faults: Faults
    members: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """The public name of the contract."""
        bases: list[type[Any]] = self.contract.mro()
        return next(base.__name__ for base in bases if base.__module__.startswith("pegboard_testing."))


def variant(kind: type[Any], **members: Any) -> Any:
    """Return a subclass with other members."""
    return type(kind.__name__, (kind,), members)


def broken(contract: Any, make: Callable[[], Any], **members: Any) -> dict[str, BaseException]:
    """Return the rules of a contract that a plugin breaks, with their errors."""
    checked: type[Contract[Any]] = variant(contract, make=lambda self: make(), **members)
    return checked.broken()


async def then(answer: Awaitable[Any], change: Callable[[Any], Any]) -> Any:
    """Return a changed result."""
    return change(await answer)
