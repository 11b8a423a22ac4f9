"""Secrets from the operator's keyring, by the library `keyring` (the extra `keyring`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SecretStore, WritableSecretStore, hookimpl

logger = logging.getLogger("pegboard.plugins.secrets_keyring")

T = TypeVar("T")


class SecretsKeyringConfig(PluginConfig):
    """`[plugins.secrets_keyring]`.

    Attributes:
        service: the service name of the secrets in the keyring.
        timeout_seconds: the time limit for a response of the keyring, which may wait for a user to unlock it.
            Afterwards the keyring is not used again.
    """

    service: str = Field("pegboard", min_length=1)
    timeout_seconds: float = Field(10, gt=0, le=600)


class SecretsKeyringPlugin(Plugin):
    """A store of secrets."""

    Config = SecretsKeyringConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        return [KeyringStore(self.config.service, self.config.timeout_seconds)]


class KeyringStore(WritableSecretStore):
    """A store that uses the keyring until its first failure. The library is imported for the first secret.

    Args:
        service: the service name of the secrets.
        timeout: the time limit in seconds.
    """

    name = "secrets_keyring"

    def __init__(self, service: str, timeout: float) -> None:
        self._service = service
        self._timeout = timeout
        self._gave_up = False

    def get(self, name: str) -> str | None:
        if self._gave_up:
            return None
        try:
            password: str | None = _within(self._timeout, lambda: _keyring().get_password(self._service, name))
            return password
        except ImportError:
            self._give_up("the library is not installed; install it with: pip install keyring")
        except TimeoutError:
            self._give_up(f"no response in {self._timeout:g} seconds; it may be locked")
        except Exception as error:  # noqa: BLE001 - back ends raise any exception
            self._give_up(f"{type(error).__name__}: {' '.join(str(error).split())}")
        return None

    def hint(self, name: str) -> str:
        return f"with `keyring set {self._service} {name}`"

    def set(self, name: str, value: str) -> str:
        """Set the password of that name, and return the name of the service.

        Raises:
            ValueError: the keyring cannot be used, or cannot hold this name or value.
        """
        self._change(lambda: _keyring().set_password(self._service, name, value))
        return f"the service {self._service} of the keyring"

    def unset(self, name: str) -> bool:
        """Delete the password of that name. Return False if there is none.

        Raises:
            ValueError: the keyring cannot be used.
        """
        if self.get(name) is None:
            return False
        self._change(lambda: _keyring().delete_password(self._service, name))
        return True

    def _change(self, change: Callable[[], None]) -> None:
        try:
            _within(self._timeout, change)
        except ImportError:
            raise ValueError("the library keyring is not installed: install it with pip install keyring") from None
        except TimeoutError:
            raise ValueError(f"no response in {self._timeout:g} seconds: unlock the keyring") from None
        except Exception as error:  # noqa: BLE001 - back ends raise any exception; its message may contain the secret
            raise ValueError(f"the keyring raised {type(error).__name__}: check it with `keyring diagnose`") from None

    def _give_up(self, reason: str) -> None:
        self._gave_up = True
        logger.warning("the keyring cannot be used, so no secret comes from it: %s", reason)


def _keyring() -> Any:
    """Return the library, which is imported in the thread that uses it."""
    import keyring

    return keyring


def _within(seconds: float, ask: Callable[[], T]) -> T:
    """Return the result of a function that runs in a thread, and abandon the thread after a timeout.

    Raises:
        TimeoutError: the function took too long.
        Exception: the exception that the function raised.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            answer.set_exception(error)

    Thread(target=run, name="pegboard-keyring", daemon=True).start()
    return answer.result(seconds)
