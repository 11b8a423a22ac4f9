"""The contract of stores of secrets: each rule is broken by somebody, and by nobody who is sound."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from pegboard.plugin import SecretStore
from pegboard.testing import SecretStoreContract
from pegboard.testing.in_memory_host import FixedSecrets

FAULTS = {
    "no name": "test_it_has_a_name",
    "trims": "test_it_gives_what_it_has",
    "expands": "test_it_gives_what_it_has",
    "nearly": "test_what_it_has_not_it_does_not_give",
    "folds": "test_what_it_has_not_it_does_not_give",
    "minds odd names": "test_odd_names_are_no_secrets_and_no_faults",
    "paths": "test_odd_names_are_no_secrets_and_no_faults",
    "once": "test_asking_again_gives_the_same",
    "shows": "test_it_shows_no_secret_by_itself",
    "logs": "test_it_shows_no_secret_by_itself",
    "prints": "test_it_shows_no_secret_by_itself",
    "hints": "test_it_shows_no_secret_by_itself",
    "hints nothing": "test_its_hint_is_for_people",
}


class Store:
    """Sound, but for one fault."""

    def __init__(self, secrets: dict[str, str], fault: str) -> None:
        self.name: Any = None if fault == "no name" else "store"
        self._secrets = secrets
        self._fault = fault
        self._given: set[str] = set()

    def get(self, name: str) -> str | None:
        found = self._faulty.get(self._fault, self._secrets.get)(name)
        if self._fault == "logs":
            logging.getLogger("store").debug("%s is %s", name, found)
        if self._fault == "prints":
            print(found)
        return found

    @property
    def _faulty(self) -> dict[str, Callable[[str], str | None]]:
        return {
            "trims": lambda name: (self._secrets.get(name) or "").rstrip('"'),
            "expands": lambda name: (self._secrets.get(name) or "").replace("$HOME", "/home"),
            "nearly": lambda name: next((value for key, value in self._secrets.items() if key.startswith(name)), None),
            "folds": lambda name: self._secrets.get(name.strip()),
            "minds odd names": self._mind,
            "paths": lambda name: self._secrets.get(name.rpartition("/")[2]),
            "once": self._once,
        }

    def _mind(self, name: str) -> str | None:
        if "\0" in name:
            raise ValueError("embedded null byte")
        return self._secrets.get(name)

    def _once(self, name: str) -> str | None:
        if name in self._given:
            return None
        self._given.add(name)
        return self._secrets.get(name)

    def hint(self, name: str) -> str:
        if self._fault == "hints nothing":
            return ""
        return f"here: {self._secrets.get(name, '')}" if self._fault == "hints" else "here"

    def __repr__(self) -> str:
        return f"Store({self._secrets})" if self._fault == "shows" else "Store()"


def contract_of(fault: str) -> type[SecretStoreContract]:
    class Faulty(SecretStoreContract):
        def make(self) -> SecretStore:
            return Store(dict(self.secrets), fault)

    return Faulty


@pytest.mark.parametrize(("fault", "rule"), FAULTS.items())
def test_each_rule_is_broken_by_somebody(fault: str, rule: str) -> None:
    assert rule in contract_of(fault).broken()


def test_without_its_fault_it_is_sound() -> None:
    assert contract_of("").broken() == {}


def test_no_rule_is_left_out() -> None:
    assert set(FAULTS.values()) == set(SecretStoreContract.rules())


class TestSecretsOfTests(SecretStoreContract):
    """The kit's own fake."""

    def make(self) -> SecretStore:
        return FixedSecrets(self.secrets)
