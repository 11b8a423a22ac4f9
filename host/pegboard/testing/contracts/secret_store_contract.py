"""What every store of secrets must do (`pegboard.SecretStore`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ClassVar

from pegboard.plugin.secrets import SecretStore
from pegboard.testing.contracts.contract import Contract, captured_output

INVALID_NAMES = (
    "", " ", ".", "..", "/etc/hostname", "A/B", "A\\B", "A=B", "A B", "A\nB", "\u00e9", "\0", "$HOME", "x" * 5000,
)  # fmt: skip
"""What somebody might call a secret, and nobody has."""


class SecretStoreContract(Contract[SecretStore]):
    """The rules of a `pegboard.SecretStore`.

    Attributes:
        secrets: what `make` puts into the store. Change it where a store cannot hold such values, in a class attribute.
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
        """A store that has the `secrets`, and no others whose names begin with `CONTRACT_`."""

    def test_it_has_a_name(self) -> None:
        """The operator is told it where a secret is missing."""
        with self._made() as store:
            assert isinstance(store.name, str), f"its name is {store.name!r}"
            assert store.name.strip(), "its name is empty"

    def test_it_gives_what_it_has(self) -> None:
        """Each value as it was put there: not trimmed, not taken for code."""
        with self._made() as store:
            for name, value in self.secrets.items():
                found = store.get(name)
                assert found == value or (not value and not found), f"{name} is {value!r}, it gave {found!r}"

    def test_what_it_has_not_it_does_not_give(self) -> None:
        """A name that is nearly another's is another secret; the next store is asked."""
        with self._made() as store:
            for name in ("CONTRACT_MISSING", "CONTRACT_", "CONTRACT_KE", "CONTRACT_KEY ", " CONTRACT_KEY"):
                found = store.get(name)
                assert not found, f"it has no {name!r}, and gave {found!r}"

    def test_odd_names_are_no_secrets_and_no_faults(self) -> None:
        """Tools' authors choose names; none of them leads out of the store or brings it down."""
        with self._made() as store:
            for name in (*INVALID_NAMES, "../CONTRACT_KEY", "./CONTRACT_KEY", "CONTRACT_KEY/.", "CONTRACT_KEY\0"):
                found = store.get(name)
                assert not found, f"it gave {found!r} for the name {name!r}"

    def test_asking_again_gives_the_same(self) -> None:
        """Several hosts of a program may ask one store, one after the other or at once."""
        names = list(self.secrets) * 20
        with self._made() as store, ThreadPoolExecutor(8) as threads:
            first = {name: store.get(name) for name in self.secrets}
            found = list(threads.map(store.get, names))
        wrong = {name for name, value in zip(names, found, strict=True) if value != first[name]}
        assert not wrong, f"asked again, it gave other values for {sorted(wrong)}"

    def test_it_shows_no_secret_by_itself(self) -> None:
        """Not when it is printed, not in the log at any level, not on the screen, not in what it tells to set one."""
        with captured_output() as told, self._made() as store:
            for name in (*self.secrets, "CONTRACT_MISSING"):
                store.get(name)
                hint = getattr(store, "hint", None)
                told.write(str(hint(name)) if callable(hint) else "")
            told.write(f"{store!r} {store!s}")
        shown = [name for name, value in self.secrets.items() if value and value in told.getvalue()]
        assert not shown, f"the values of {shown} were shown"

    def test_its_hint_is_for_people(self) -> None:
        """Where it has one: how to set a secret, for the operator's log."""
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
