"""The file of the vault: its mode, encryption, keys and owners."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pegboard.plugin import StateFiles
from pegboard_plugins.auth.vault.file_tokens import FileTokens
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.token_records import LOGINS, TOKENS, record_id
from pegboard_plugins.auth.vault.vault_keys import KEY_NAME, vault_keys
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultError, VaultToken
from tests.plugins.auth.vault.conftest import logins

ANN, BEN = TokenKey("", "ann", "acme"), TokenKey("", "ben", "acme")
TOKEN = VaultToken("access-canary", "refresh-canary", 7.0, ("read",), "octocat")
OLD, NEW = "0123456789abcdef-old-old-old-old-old", "0123456789abcdef-new-new-new-new-new"


def vault(path: Path, keys: list[str]) -> FileTokens:
    return FileTokens(lambda: path, lambda: keys, {})


async def test_a_token_is_kept_encrypted_in_a_file_of_its_owner(state: Path) -> None:
    store = vault(state / "vault.db", [OLD])
    await store.save(ANN, TOKEN)
    assert await vault(state / "vault.db", [OLD]).load(ANN) == TOKEN
    assert await store.keys() == [ANN]
    assert b"canary" not in (state / "vault.db").read_bytes()
    assert os.listdir(state) == ["vault.db"]
    assert "canary" not in repr(TOKEN)
    await store.remove(ANN)
    assert await store.load(ANN) is None


async def test_rotation_needs_the_old_key_once(state: Path) -> None:
    path = state / "vault.db"
    await vault(path, [OLD]).save(ANN, TOKEN)
    with pytest.raises(VaultError, match="another key"):
        await vault(path, [NEW]).load(ANN)
    await vault(path, ["0123456789abcdef-lost-lost-lost-lost"]).save(BEN, TOKEN)  # prevents no rotation
    await vault(path, [NEW, OLD]).keys()  # the first use encrypts all with the new key
    assert await vault(path, [NEW]).load(ANN) == TOKEN


async def test_a_login_at_a_server_is_encrypted_rotated_and_bound_to_the_server(state: Path) -> None:
    path, login = state / "vault.db", {"token": {"access_token": "access-canary"}}
    await vault(path, [OLD]).save_login("https://one.example", login)
    assert b"canary" not in path.read_bytes()
    assert await vault(path, [NEW]).load_login("https://one.example") is None  # a new login replaces it
    await vault(path, [NEW, OLD]).keys()  # the first use encrypts all with the new key
    assert await vault(path, [NEW]).load_login("https://one.example") == login
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE records SET id = ?", (record_id(LOGINS, ["https://two.example"]),))
    assert await vault(path, [NEW]).load_login("https://two.example") is None
    await vault(path, [NEW]).save_login("https://two.example", None)
    with closing(sqlite3.connect(path)) as file, file:
        assert file.execute("SELECT * FROM records").fetchall() == []


async def test_a_row_of_one_owner_is_not_accepted_for_another(state: Path) -> None:
    store = vault(state / "vault.db", [OLD])
    await store.save(ANN, TOKEN)
    with closing(sqlite3.connect(state / "vault.db")) as file, file:
        file.execute("UPDATE records SET id = ?", (record_id(TOKENS, BEN),))
    with pytest.raises(VaultError):
        await store.load(BEN)


async def test_a_damaged_file_is_one_error(state: Path) -> None:
    (state / "vault.db").touch(0o600)
    (state / "vault.db").write_bytes(b"no database" * 100)
    for path in (state / "vault.db", state, state / "vault.db" / "below"):
        with pytest.raises(VaultError, match="cannot be used"):
            await vault(path, [OLD]).load(ANN)


@pytest.mark.parametrize("sealed", ["'text'", "x'00'", "7"])
async def test_a_damaged_row_is_one_error(state: Path, sealed: str) -> None:
    store = vault(state / "vault.db", [OLD])
    await store.save(ANN, TOKEN)
    with closing(sqlite3.connect(state / "vault.db")) as file, file:
        file.execute(f"UPDATE records SET content = {sealed}")
    with pytest.raises(VaultError, match="pegboard logout acme"):
        await store.load(ANN)


def test_the_key_is_created_once(state: Path) -> None:
    [key] = vault_keys(VaultConfig())
    assert vault_keys(VaultConfig()) == [key]
    assert (state / "vault-key").stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    assert len(key) == 64


@pytest.mark.parametrize("content", ["", "\n", "0" * 64, "short"])
def test_a_damaged_key_is_not_used(state: Path, content: str) -> None:
    """An empty key would encrypt tokens with a key that everybody knows."""
    (state / "vault-key").touch(0o600)
    (state / "vault-key").write_text(content, "ascii")
    with pytest.raises(VaultError, match="is damaged: restore"):
        vault_keys(VaultConfig())


@pytest.mark.skipif(os.name != "posix", reason="it is about POSIX modes")
def test_others_must_not_read_the_key(state: Path) -> None:
    vault_keys(VaultConfig())
    (state / "vault-key").chmod(0o640)
    with pytest.raises(VaultError, match="chmod 600"):
        vault_keys(VaultConfig())


@pytest.mark.skipif(os.name != "posix", reason="it is about POSIX modes")
async def test_the_file_is_not_opened_in_a_directory_that_every_user_can_write(state: Path) -> None:
    os.chmod(state, 0o777)
    for keys in ([], [OLD]):
        with pytest.raises(VaultError, match=f"run chmod o-w {state}"):
            await logins({"client_id": "x", "issuer": "https://a.example"}, keys=keys).tokens.load(ANN)
    assert os.listdir(state) == []


def test_the_key_may_be_in_the_keyring(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring

    kept: dict[tuple[str, str], str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda *name: kept.get(name))
    monkeypatch.setattr(keyring, "set_password", lambda service, name, value: kept.update({(service, name): value}))
    with StateFiles(os.environ).lock(KEY_NAME), pytest.raises(VaultError, match="another process creates the key"):
        vault_keys(VaultConfig(keyring=True))
    [key] = vault_keys(VaultConfig(keyring=True))
    assert vault_keys(VaultConfig(keyring=True)) == [key]
    assert list(kept.values()) == [key]
    assert [path.name for path in state.iterdir()] == [f".{KEY_NAME}.lock"]
