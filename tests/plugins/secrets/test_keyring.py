"""Secrets from a keyring, by the real library with other back ends."""

from __future__ import annotations

import sys
from threading import Event

import keyring
import keyring.backend
import keyring.backends.fail
import pytest

from pegboard import Host
from pegboard_plugins.secrets_keyring import KeyringStore
from tests.host.hosting import failure, value
from tests.plugins.secrets.conftest import Memory, reading_kit


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


async def test_a_host_asks_it_when_it_is_listed(memory: Memory) -> None:
    keyring.set_password("mine", "API_KEY", "of the keyring")
    settings = {"host": {"autoload": False, "secret_stores": ["secrets_keyring"]}}
    plugins = {"plugins": {"secrets_keyring": {"service": "mine"}}}
    async with Host({**settings, **plugins}, toolkits={"x": reading_kit()}) as host:
        assert await value(host, "x_read") == "of the keyring"


def test_a_machine_without_a_keyring_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    store = KeyringStore("pegboard", 10)
    assert [store.get("API_KEY"), store.get("OTHER")] == [None, None]
    (record,) = caplog.records
    assert record.getMessage().startswith("the keyring cannot be used, so no secret comes from it: NoKeyringError")


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


async def test_without_the_library_the_way_to_install_it_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.delenv("API_KEY", raising=False)
    settings = {"host": {"autoload": False, "secret_stores": ["secrets_env", "secrets_keyring"]}}
    async with Host(settings, toolkits={"x": reading_kit()}) as host:
        await failure(host, "x_read")
    assert caplog.text.count("install it with: pip install keyring") == 1


def test_the_library_is_imported_for_the_first_secret_alone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keyring.set_password("pegboard", "API_KEY", "of the keyring")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "keyring", None)  # importing it fails
        store = KeyringStore("pegboard", 10)
        assert store.hint("API_KEY") == "with `keyring set pegboard API_KEY`"
    assert store.get("API_KEY") == "of the keyring"
    assert caplog.records == []
