"""Faulty plugins in one line each, for the tests of contracts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard.testing import Contract

debug: Any = logging.getLogger("contract").debug
show: Any = print


def variant(kind: type[Any], **members: Any) -> Any:
    """Return a subclass with other members."""
    return type(kind.__name__, (kind,), members)


def broken(contract: Any, make: Callable[[], Any], **members: Any) -> dict[str, BaseException]:
    """Return the rules of a contract that an object breaks, with their errors."""
    checked: type[Contract[Any]] = variant(contract, make=lambda self: make(), **members)
    return checked.broken()


async def then(found: Awaitable[Any], change: Callable[[Any], Any]) -> Any:
    """Return a changed result."""
    return change(await found)


def cases(faults: list[tuple[Any, str]]) -> list[Any]:
    """Return a table of faults as parameters of a test."""
    return [pytest.param(fault, rule, id=f"{rule}-{number}") for number, (fault, rule) in enumerate(faults)]


def rules(faults: list[tuple[Any, str]]) -> set[str]:
    """Return the rules of a table of faults."""
    return {rule for _, rule in faults}
