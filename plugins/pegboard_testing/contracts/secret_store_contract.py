"""The rules of secret stores (`pegboard.plugin.SecretStore` and `WritableSecretStore`)."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from pegboard.plugin.secrets import SecretStore, WritableSecretStore
from pegboard_testing.contracts.contract import Contract, captured_output, rule, start_daemon

INVALID_NAMES = (
    "", " ", ".", "..", "/etc/hostname", "A/B", "A\\B", "A=B", "A B", "A\nB", "\u00e9", "\0", "$HOME", "x" * 5000,
)  # fmt: skip
"""Names that authors may choose, but for which no secret exists."""


class SecretStoreContract(Contract[SecretStore]):
    """The rules of a secret store.

    Attributes:
        secrets: the secrets that `make` puts into the store. Override it if a store cannot hold such values.
    """

    secrets: ClassVar[Mapping[str, str]] = {
        "CONTRACT_KEY": "canary-k3y",
        "CONTRACT_KEY_2": "canary with spaces, 'quotes' and \"more\"",
        "CONTRACT_URL": "https://canary:p%40ss@x.example/?a=1&b=$HOME#c",
        "CONTRACT_TEXT": "canary \u20ac",
        "CONTRACT_BLANKS": " \tcanary between blanks\t ",
        "CONTRACT_EMPTY": "",
    }

    @abstractmethod
    def make(self) -> SecretStore:
        """Return a store that has the `secrets`, and no others whose names begin with `CONTRACT_`."""

    @rule
    def test_it_has_a_name(self, store: SecretStore) -> None:
        """The message about a missing secret contains the name."""
        assert isinstance(store.name, str), f"its name is {store.name!r}"
        assert store.name.strip(), "its name is empty"

    @rule
    def test_it_returns_its_secrets(self, store: SecretStore) -> None:
        """Each value is returned unchanged: it is neither trimmed nor expanded."""
        for name, value in self.secrets.items():
            actual = store.get(name)
            assert actual == value or (not value and not actual), f"{name} is {value!r}, and it returned {actual!r}"

    @rule
    def test_it_returns_no_other_secrets(self, store: SecretStore) -> None:
        """A similar name, also in other upper or lower case, is another secret; the host calls the next store."""
        similar = ["CONTRACT_MISSING", "CONTRACT_", "CONTRACT_KE", "CONTRACT_KEY ", " CONTRACT_KEY"]
        if os.name != "nt":  # there environment variables have no case
            similar.append("contract_key")
        for name in similar:
            actual = store.get(name)
            assert not actual, f"it has no {name!r}, and returned {actual!r}"

    @rule
    def test_it_accepts_invalid_names(self, store: SecretStore) -> None:
        """Authors of tools choose names. A name must not lead out of the store or raise."""
        for name in (*INVALID_NAMES, "../CONTRACT_KEY", "./CONTRACT_KEY", "CONTRACT_KEY/.", "CONTRACT_KEY\0"):
            actual = store.get(name)
            assert not actual, f"it returned {actual!r} for the name {name!r}"

    @rule
    def test_it_returns_the_same_each_time(self, store: SecretStore) -> None:
        """Several hosts of a program may use one store, also at the same time."""
        names = list(self.secrets) * 3
        first = {name: store.get(name) for name in self.secrets}
        threads = [start_daemon(lambda: [(name, store.get(name)) for name in names]) for _ in range(8)]
        wrong = {name for thread in threads for name, value in thread.result() if value != first[name]}
        assert not wrong, f"a second call returned other values for {sorted(wrong)}"

    @rule
    def test_it_discloses_no_secret(self, store: SecretStore) -> None:
        """Neither its repr, its logs, its printed output nor its hints contain a secret."""
        with captured_output() as output:
            for name in (*self.secrets, "CONTRACT_MISSING"):
                store.get(name)
                output.write(store.hint(name))
            output.write(f"{store!r} {store!s}")
        shown = [name for name, value in self.secrets.items() if value and value.strip() in output.getvalue()]
        assert not shown, f"the values of {shown} were disclosed"

    @rule
    def test_its_hint_is_a_text(self, store: SecretStore) -> None:
        """A hint tells the operator how to set a secret."""
        for name in ("CONTRACT_MISSING", *INVALID_NAMES):
            hint = store.hint(name)
            assert isinstance(hint, str), f"its hint for {name!r} is {hint!r}"
            assert hint.strip(), f"its hint for {name!r} is empty"


class WritableSecretStoreContract(SecretStoreContract):
    """The rules of a secret store in which `pegboard secret` can set secrets."""

    @rule
    def test_it_sets_replaces_and_removes_secrets(self, store: SecretStore) -> None:
        """Values are kept unchanged, and other secrets stay."""
        writable = _writable(store)
        assert writable.unset("CONTRACT_NEW") is False, "it removed a secret that it does not have"
        changed = {name: f" {value}\\n'x' \\ #1 " for name, value in self.secrets.items() if value}
        changed["CONTRACT_NEW"] = "new-canary"
        for name, value in changed.items():
            assert writable.set(name, value), "it did not return the place"
        for name, value in changed.items():
            actual = writable.get(name)
            assert actual == value, f"{name} is {value!r}, and it returned {actual!r}"
        assert writable.unset("CONTRACT_NEW") is True, "it did not report that it removed the secret"
        assert not writable.get("CONTRACT_NEW"), "it returned a secret that was removed"
        assert writable.get("CONTRACT_KEY"), "it removed another secret"

    @rule
    def test_it_refuses_names_that_it_cannot_hold(self, store: SecretStore) -> None:
        """A name must not lead out of the store, and a refusal must not contain the value."""
        writable = _writable(store)
        for name in (*INVALID_NAMES, "../CONTRACT_KEY", "CONTRACT_KEY/."):
            refusal = _refusal(writable, name, "canary-refused")
            assert "canary-refused" not in (refusal or ""), f"the refusal of {name!r} contains the value"
            if refusal is None:
                assert store.get(name) == "canary-refused", f"it lost the secret {name!r} without an error"
                writable.unset(name)
        assert store.get("CONTRACT_KEY") == self.secrets["CONTRACT_KEY"], "a refused name changed another secret"


def _writable(store: SecretStore) -> WritableSecretStore:
    assert isinstance(store, WritableSecretStore), "it has no methods `set` and `unset`"
    return store


def _refusal(store: WritableSecretStore, name: str, value: str) -> str | None:
    """Return the message of a store that refuses to set a secret, or None."""
    try:
        store.set(name, value)
    except (ValueError, OSError) as error:
        return str(error)
    return None
