"""Two tests for each contract: each faulty plugin breaks its rule, and a sound one breaks none."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard.testing import Contract

Faults = list[tuple[Callable[[], Any], str]]
"""Functions that make a faulty plugin, with the rules that these break."""

debug: Any = logging.getLogger("contract").debug


def variant(kind: type[Any], **members: Any) -> Any:
    """Return a subclass with other members."""
    return type(kind.__name__, (kind,), members)


def broken(contract: Any, make: Callable[[], Any], **members: Any) -> dict[str, BaseException]:
    """Return the rules of a contract that a plugin breaks, with their errors."""
    checked: type[Contract[Any]] = variant(contract, make=lambda self: make(), **members)
    return checked.broken()


def contract_tests(contract: Any, sound: Callable[[], Any], faults: Faults, **members: Any) -> tuple[Any, Any]:
    """Return the two tests of a contract, which has these members."""

    @pytest.mark.parametrize(
        ("make", "rule"), [pytest.param(*fault, id=f"{fault[1]}-{n}") for n, fault in enumerate(faults)]
    )
    def test_a_faulty_plugin_breaks_the_rule(make: Callable[[], Any], rule: str) -> None:
        assert list(broken(contract, make, rules=classmethod(lambda cls: (rule,)), **members)) == [rule]

    def test_a_sound_plugin_breaks_no_rule() -> None:
        assert broken(contract, sound, **members) == {}
        assert {rule for _, rule in faults} == set(contract.rules())

    return test_a_faulty_plugin_breaks_the_rule, test_a_sound_plugin_breaks_no_rule


def cases(faults: Faults) -> list[Any]:
    """Return faults as parameters of a test."""
    return [pytest.param(make, rule, id=f"{rule}-{number}") for number, (make, rule) in enumerate(faults)]


async def then(found: Awaitable[Any], change: Callable[[Any], Any]) -> Any:
    """Return a changed result."""
    return change(await found)
