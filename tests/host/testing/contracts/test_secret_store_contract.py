"""The contract of secret stores: a faulty store breaks each rule, and a sound one none."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import SecretStore
from pegboard.testing import SecretStoreContract
from pegboard.testing.in_memory_host import FixedSecrets
from tests.host.testing.contracts.faulty import cases, debug, rules, show, variant


class Store:
    name: Any = "store"

    def __init__(self, secrets: dict[str, str]) -> None:
        self.secrets = secrets

    def get(self, name: str) -> str | None:
        return self.secrets.get(name)


def finds(get: Any) -> Any:
    """Return a store with another way to find a secret."""
    return variant(Store, get=lambda self, name: get(self.secrets, name))


def rejects(secrets: dict[str, str], name: str) -> str | None:
    if not name.isidentifier():
        raise ValueError(name)
    return secrets.get(name)


FAULTS: list[tuple[Any, str]] = [
    (variant(Store, name=None), "test_it_has_a_name"),
    (finds(lambda secrets, name: secrets.get(name, "").rstrip('"')), "test_it_returns_its_secrets"),
    (finds(lambda secrets, name: secrets.get(name, "").replace("$HOME", "/home")), "test_it_returns_its_secrets"),
    (
        finds(lambda secrets, name: next((secrets[key] for key in secrets if key.startswith(name)), None)),
        "test_it_returns_no_other_secrets",
    ),
    (finds(lambda secrets, name: secrets.get(name.strip())), "test_it_returns_no_other_secrets"),
    (finds(rejects), "test_it_accepts_invalid_names"),
    (finds(lambda secrets, name: secrets.get(name.rpartition("/")[2])), "test_it_accepts_invalid_names"),
    (finds(lambda secrets, name: secrets.pop(name, None)), "test_it_returns_the_same_each_time"),
    (variant(Store, __repr__=lambda self: str(self.secrets)), "test_it_discloses_no_secret"),
    (finds(lambda secrets, name: debug(secrets.get(name)) or secrets.get(name)), "test_it_discloses_no_secret"),
    (finds(lambda secrets, name: show(secrets.get(name)) or secrets.get(name)), "test_it_discloses_no_secret"),
    (variant(Store, hint=lambda self, name: f"it is {self.secrets.get(name)}"), "test_it_discloses_no_secret"),
    (variant(Store, hint=lambda self, name: ""), "test_its_hint_is_a_text"),
]


def broken(kind: Any) -> dict[str, BaseException]:
    checked: type[SecretStoreContract] = variant(SecretStoreContract, make=lambda self: kind(dict(self.secrets)))
    return checked.broken()


@pytest.mark.parametrize(("kind", "rule"), cases(FAULTS))
def test_a_faulty_store_breaks_the_rule(kind: Any, rule: str) -> None:
    assert rule in broken(kind)


def test_a_sound_store_breaks_no_rule() -> None:
    assert broken(Store) == {}
    assert rules(FAULTS) == set(SecretStoreContract.rules())


class TestSecretsOfConnect(SecretStoreContract):
    def make(self) -> SecretStore:
        return FixedSecrets(self.secrets)
