"""The keys that encrypt tokens: of the settings, of the keyring, or of a file in the state directory."""

from __future__ import annotations

import os
from secrets import token_hex
from types import ModuleType

from pegboard.plugin import StateFiles
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_store import VaultError
from pegboard_plugins.support.secret_strength import is_weak_secret

KEY_BYTES = 32
KEY_NAME = "vault-key"
KEYRING_SERVICE = "pegboard"


def vault_keys(config: VaultConfig) -> list[str]:
    """Return the keys. The first encrypts, all decrypt. Create a key in the keyring or in the file if there is none.

    Raises:
        VaultError: the keyring or the file cannot be used.
    """
    if config.keys:
        return [key.get_secret_value() for key in config.keys]
    if config.keyring:
        return [_of_keyring()]
    return [_of_file()]


def _of_file() -> str:
    files = StateFiles(os.environ)
    try:
        key = files.create(KEY_NAME, token_hex(KEY_BYTES).encode()).decode("ascii").strip()
        directory = files.directory
        assert directory is not None
    except (OSError, UnicodeDecodeError) as error:
        raise VaultError(f"the key of the vault cannot be read: {error}") from error
    if is_weak_secret(key):
        raise VaultError(
            f"the key in {directory / KEY_NAME} is damaged: restore it, or remove it and log in again at each provider"
        )
    return key


def _of_keyring() -> str:
    try:
        import keyring
    except ImportError:
        raise VaultError("the library keyring is not installed: install it with: pip install keyring") from None
    try:
        if keyring.get_password(KEYRING_SERVICE, KEY_NAME) is None:
            _create_in_keyring(keyring)
        key = keyring.get_password(KEYRING_SERVICE, KEY_NAME)
    except VaultError:
        raise
    except Exception as error:
        raise VaultError(f"the keyring raised {type(error).__name__}: check it with `keyring diagnose`") from error
    if not key or is_weak_secret(key):
        raise VaultError("the keyring has no usable key of the vault: set [plugins.vault] keys instead")
    return key


def _create_in_keyring(keyring: ModuleType) -> None:
    """Create the key. Another process that starts now must not replace it, because nothing could be decrypted then."""
    with StateFiles(os.environ).lock(KEY_NAME) as is_alone:
        if not is_alone:
            raise VaultError("another process creates the key of the vault in the keyring: start again")
        if keyring.get_password(KEYRING_SERVICE, KEY_NAME) is None:
            keyring.set_password(KEYRING_SERVICE, KEY_NAME, token_hex(KEY_BYTES))
