"""A toolkit that reads one secret, hosts for it, and a keyring in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import pytest

from pegboard import Context, Host, Toolkit
from pegboard.config import HostConfig
from tests.host.hosting import kit_of


def reading_kit(secret: str = "API_KEY") -> Toolkit:
    def read(context: Context) -> str:
        return context.get_secret(secret)

    return kit_of(read, requires_secrets=[secret])


def reading_host(place: Path, store: str, **settings: Any) -> Host:
    """Return a host with one store, whose configuration is in a directory."""
    section = {"host": {"autoload": False, "secret_stores": [store]}, "plugins": {store: settings}}
    return Host(HostConfig.of(section, directory=place), toolkits={"x": reading_kit()})


class Memory(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = -1  # never chosen by the library itself

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def memory() -> Iterator[Memory]:
    before = keyring.get_keyring()
    backend = Memory()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)
