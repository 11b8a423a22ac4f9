"""Secrets from a keyring, by the real library with other back ends."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import keyring
import pytest

from pegboard.plugin import SecretStore
from pegboard_plugins.secrets.secrets_keyring import KeyringStore
from pegboard_testing import WritableSecretStoreContract
from tests.host.hosting import failure, value
from tests.plugins.secrets.conftest import Memory, reading_host


class Locked(Memory):
    """A keyring that waits to be unlocked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.unlocked = Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.unlocked.wait()
        return None


pytestmark = pytest.mark.usefixtures("memory")


async def test_a_host_asks_the_keyring_when_it_is_listed(tmp_path: Path) -> None:
    keyring.set_password("mine", "API_KEY", "of the keyring")
    async with reading_host(tmp_path, "secrets_keyring", service="mine") as host:
        assert await value(host, "read") == "of the keyring"


def test_a_keyring_that_waits_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    locked = Locked()
    keyring.set_keyring(locked)
    store = KeyringStore("pegboard", 0.01)
    try:
        assert [store.get("API_KEY"), store.get("OTHER")] == [None, None]
    finally:
        locked.unlocked.set()
    (record,) = caplog.records
    assert "no response in 0.01 seconds; it may be locked" in record.getMessage()
    assert locked.asked == 1


async def test_without_the_library_one_warning_names_the_way_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    async with reading_host(tmp_path, "secrets_keyring") as host:
        await failure(host, "read")
    assert caplog.text.count("install it with: pip install keyring") == 1


class TestKeyring(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def passwords(self, memory: Memory) -> None:
        for name, secret in self.secrets.items():
            memory.set_password("pegboard", name, secret)

    def make(self) -> SecretStore:
        return KeyringStore("pegboard", 10)
