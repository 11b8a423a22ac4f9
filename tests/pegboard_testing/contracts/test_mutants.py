"""Each mutant breaks the rule that names its fault, and the sound plugin of each contract breaks none."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import pegboard_testing as testing
from tests.pegboard_testing.contracts import (
    test_auth_contracts,
    test_bus_contract,
    test_call_contracts,
    test_error_adapter_contract,
    test_http_contracts,
    test_observing_contracts,
    test_protocol_contracts,
    test_store_contracts,
    test_transport_contract,
)
from tests.pegboard_testing.contracts.faulty import Mutants, broken

MUTANTS: list[Mutants] = [
    *test_auth_contracts.MUTANTS,
    *test_bus_contract.MUTANTS,
    *test_call_contracts.MUTANTS,
    *test_error_adapter_contract.MUTANTS,
    *test_http_contracts.MUTANTS,
    *test_observing_contracts.MUTANTS,
    *test_protocol_contracts.MUTANTS,
    *test_store_contracts.MUTANTS,
    *test_transport_contract.MUTANTS,
]
FAULTS = [(kit, make, rule) for kit in MUTANTS for make, rule in kit.faults]
CASES = [pytest.param(*fault, id=f"{fault[0].name}-{fault[2]}-{number}") for number, fault in enumerate(FAULTS)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a mutant may leave things open
@pytest.mark.parametrize(("kit", "make", "rule"), CASES)
def test_a_mutant_breaks_the_rule(kit: Mutants, make: Callable[[], Any], rule: str) -> None:
    members = {"max_rule_seconds": 0.5, **kit.members, "rules": classmethod(lambda cls: (rule,))}
    assert list(broken(kit.contract, make, **members)) == [rule]
    gc.collect()


@pytest.mark.parametrize("kit", [pytest.param(kit, id=f"{kit.name}-{n}") for n, kit in enumerate(MUTANTS)])
def test_a_sound_plugin_breaks_no_rule(kit: Mutants) -> None:
    assert broken(kit.contract, kit.sound, **kit.members) == {}


@pytest.mark.parametrize("name", [name for name in testing.__all__ if name.endswith("Contract") and name != "Contract"])
def test_every_rule_has_a_mutant_and_every_contract_has_three(name: str) -> None:
    contract = getattr(testing, name)
    rules = [rule for kit in MUTANTS if kit.name == name for _, rule in kit.faults]
    assert set(rules) == set(contract.rules())
    assert len(rules) >= 3
