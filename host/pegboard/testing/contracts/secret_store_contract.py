"""The rules of secret stores (`pegboard.plugin.SecretStore` and `WritableSecretStore`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ClassVar

from pegboard.plugin.secrets import SecretStore, WritableSecretStore
from pegboard.testing.contracts.contract import Contract, captured_output

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
        "CONTRACT_EMPTY": "",
    }

    @abstractmethod
    def make(self) -> SecretStore:
        """Return a store that has the `secrets`, and no others whose names begin with `CONTRACT_`."""

    def test_it_has_a_name(self) -> None:
        """The message about a missing secret contains the name."""
        with self._made() as store:
            assert isinstance(store.name, str), f"its name is {store.name!r}"
            assert store.name.strip(), "its name is empty"

    def test_it_returns_its_secrets(self) -> None:
        """Each value is returned unchanged: it is neither trimmed nor expanded."""
        with self._made() as store:
            for name, value in self.secrets.items():
                found = store.get(name)
                assert found == value or (not value and not found), f"{name} is {value!r}, and it returned {found!r}"

    def test_it_returns_no_other_secrets(self) -> None:
        """A similar name is another secret; the host calls the next store."""
        with self._made() as store:
            for name in ("CONTRACT_MISSING", "CONTRACT_", "CONTRACT_KE", "CONTRACT_KEY ", " CONTRACT_KEY"):
                found = store.get(name)
                assert not found, f"it has no {name!r}, and returned {found!r}"

    def test_it_accepts_invalid_names(self) -> None:
        """Authors of tools choose names. A name must not lead out of the store or raise."""
        with self._made() as store:
            for name in (*INVALID_NAMES, "../CONTRACT_KEY", "./CONTRACT_KEY", "CONTRACT_KEY/.", "CONTRACT_KEY\0"):
                found = store.get(name)
                assert not found, f"it returned {found!r} for the name {name!r}"

    def test_it_returns_the_same_each_time(self) -> None:
        """Several hosts of a program may use one store, also at the same time."""
        names = list(self.secrets) * 20
        with self._made() as store, ThreadPoolExecutor(8) as threads:
            first = {name: store.get(name) for name in self.secrets}
            found = list(threads.map(store.get, names))
        wrong = {name for name, value in zip(names, found, strict=True) if value != first[name]}
        assert not wrong, f"a second call returned other values for {sorted(wrong)}"

    def test_it_discloses_no_secret(self) -> None:
        """Neither its repr, its logs, its printed output nor its hints contain a secret."""
        with captured_output() as told, self._made() as store:
            for name in (*self.secrets, "CONTRACT_MISSING"):
                store.get(name)
                hint = getattr(store, "hint", None)
                told.write(str(hint(name)) if callable(hint) else "")
            told.write(f"{store!r} {store!s}")
        shown = [name for name, value in self.secrets.items() if value and value in told.getvalue()]
        assert not shown, f"the values of {shown} were disclosed"

    def test_its_hint_is_a_text(self) -> None:
        """A hint tells the operator how to set a secret."""
        with self._made() as store:
            hint = getattr(store, "hint", None)
            if hint is None:
                return
            for name in ("CONTRACT_MISSING", *INVALID_NAMES):
                said = hint(name)
                assert isinstance(said, str), f"its hint for {name!r} is {said!r}"
                assert said.strip(), f"its hint for {name!r} is empty"

    @contextmanager
    def _made(self) -> Iterator[SecretStore]:
        made = self.make()
        try:
            yield made
        finally:
            self.dispose(made)


class WritableSecretStoreContract(SecretStoreContract):
    """The rules of a secret store in which `pegboard secret` can set secrets."""

    def test_it_sets_replaces_and_removes_secrets(self) -> None:
        """Other secrets stay. A new store returns the new values."""
        with self._writable() as store:
            assert store.unset("CONTRACT_NEW") is False, "it removed a secret that it does not have"
            for name, value in {**self.secrets, "CONTRACT_NEW": "new-canary"}.items():
                if value:
                    assert store.set(name, f"{value}\\n'x' \\ #1"), "it did not return the place"
            for name, value in {**self.secrets, "CONTRACT_NEW": "new-canary"}.items():
                found, expected = store.get(name), f"{value}\\n'x' \\ #1" if value else value
                assert (found or "") == expected, f"{name} is {expected!r}, and it returned {found!r}"
            assert store.unset("CONTRACT_NEW") is True, "it did not report that it removed the secret"
            assert not store.get("CONTRACT_NEW"), "it returned a secret that was removed"
            assert store.get("CONTRACT_KEY"), "it removed another secret"

    def test_it_refuses_names_that_it_cannot_hold(self) -> None:
        """A name must not lead out of the store, and a refusal must not contain the value."""
        with self._writable() as store:
            for name in (*INVALID_NAMES, "../CONTRACT_KEY", "CONTRACT_KEY/."):
                refusal = _refusal(store, name, "canary-refused")
                assert "canary-refused" not in (refusal or ""), f"the refusal of {name!r} contains the value"
                if refusal is None:
                    assert store.get(name) == "canary-refused", f"it lost the secret {name!r} without an error"
                    store.unset(name)
            assert store.get("CONTRACT_KEY") == self.secrets["CONTRACT_KEY"], "a refused name changed another secret"

    @contextmanager
    def _writable(self) -> Iterator[WritableSecretStore]:
        with self._made() as store:
            assert isinstance(store, WritableSecretStore), "it has no methods `set` and `unset`"
            yield store


def _refusal(store: WritableSecretStore, name: str, value: str) -> str | None:
    """Return the message of a store that refuses to set a secret, or None."""
    try:
        store.set(name, value)
    except (ValueError, OSError) as error:
        return str(error)
    return None
