"""The contract of secret stores: a faulty store breaks each rule, and a sound one none."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from pegboard.plugin import SecretStore
from pegboard.testing import SecretStoreContract
from pegboard.testing.in_memory_host import FixedSecrets

Secrets = dict[str, str]


class Store:
    """A store, sound unless it is told otherwise."""

    name: Any = "store"

    def __init__(self, secrets: Secrets, get: Callable[[Secrets, str], str | None]) -> None:
        self._secrets = secrets
        self._get = get

    def get(self, name: str) -> str | None:
        return self._get(self._secrets, name)


class Unnamed(Store):
    name = None


class Hints(Store):
    def hint(self, name: str) -> Any:
        return f"it is {self._secrets.get(name)}"


class HintsNothing(Store):
    def hint(self, name: str) -> Any:
        return ""


class Shows(Store):
    def __repr__(self) -> str:
        return f"Store({self._secrets})"


def minds(secrets: Secrets, name: str) -> str | None:
    if not name.isidentifier():
        raise ValueError(name)
    return secrets.get(name)


def logs(secrets: Secrets, name: str) -> str | None:
    logging.getLogger("store").debug("%s is %s", name, secrets.get(name))
    return secrets.get(name)


def prints(secrets: Secrets, name: str) -> str | None:
    print(secrets.get(name))
    return secrets.get(name)


FAULTS: list[tuple[Any, str]] = [
    (Unnamed, "test_it_has_a_name"),
    (lambda secrets, name: (secrets.get(name) or "").rstrip('"'), "test_it_returns_its_secrets"),
    (lambda secrets, name: (secrets.get(name) or "").replace("$HOME", "/home"), "test_it_returns_its_secrets"),
    (
        lambda secrets, name: next((value for key, value in secrets.items() if key.startswith(name)), None),
        "test_it_returns_no_other_secrets",
    ),
    (lambda secrets, name: secrets.get(name.strip()), "test_it_returns_no_other_secrets"),
    (minds, "test_it_accepts_invalid_names"),
    (lambda secrets, name: secrets.get(name.rpartition("/")[2]), "test_it_accepts_invalid_names"),
    (lambda secrets, name: secrets.pop(name, None), "test_it_returns_the_same_each_time"),
    (Shows, "test_it_discloses_no_secret"),
    (logs, "test_it_discloses_no_secret"),
    (prints, "test_it_discloses_no_secret"),
    (Hints, "test_it_discloses_no_secret"),
    (HintsNothing, "test_its_hint_is_a_text"),
]


def broken(fault: Any) -> dict[str, BaseException]:
    class Faulty(SecretStoreContract):
        def make(self) -> SecretStore:
            kind, get = (fault, dict.get) if isinstance(fault, type) else (Store, fault)
            made: SecretStore = kind(dict(self.secrets), get)
            return made

    return Faulty.broken()


@pytest.mark.parametrize(("fault", "rule"), FAULTS, ids=[f"{place}-{rule}" for place, (_, rule) in enumerate(FAULTS)])
def test_a_faulty_store_breaks_the_rule(fault: Any, rule: str) -> None:
    assert rule in broken(fault)


def test_a_sound_store_breaks_no_rule() -> None:
    assert broken(Store) == {}
    assert {rule for _, rule in FAULTS} == set(SecretStoreContract.rules())


class TestSecretsOfConnect(SecretStoreContract):
    def make(self) -> SecretStore:
        return FixedSecrets(self.secrets)
