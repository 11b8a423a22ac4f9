"""Secrets from the keyring of the person who runs the host, by the library `keyring` (the extra `keyring`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from threading import Event, Thread

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SecretStore, hookimpl

logger = logging.getLogger("pegboard.plugins.secrets_keyring")


class SecretsKeyringConfig(PluginConfig):
    """`[plugins.secrets_keyring]`.

    Attributes:
        service: under which name of a service secrets are kept.
        timeout_seconds: how long the keyring may take, as one does that asks a person to unlock it. After that it is
            asked no more.
    """

    service: str = Field("pegboard", min_length=1)
    timeout_seconds: float = Field(10, gt=0, le=600)


class SecretsKeyringPlugin(Plugin):
    """One store of secrets."""

    Config = SecretsKeyringConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        """The keyring."""
        return [KeyringStore(self.config.service, self.config.timeout_seconds)]


class KeyringStore:
    """Asks the keyring until it fails once; the library is imported for the first secret.

    Args:
        service: see `SecretsKeyringConfig`.
        timeout: likewise, in seconds.
    """

    name = "secrets_keyring"

    def __init__(self, service: str, timeout: float) -> None:
        self._service = service
        self._timeout = timeout
        self._gave_up = False

    def get(self, name: str) -> str | None:
        """The password of that name."""
        if self._gave_up:
            return None
        try:
            return _within(self._timeout, lambda: _password(self._service, name))
        except ImportError:
            self._give_up("the library is not installed; install it with: pip install keyring")
        except TimeoutError:
            self._give_up(f"it gave no answer in {self._timeout:g} seconds; it may wait to be unlocked")
        except Exception as error:  # noqa: BLE001 - back ends raise what they like
            self._give_up(f"{type(error).__name__}: {' '.join(str(error).split())}")
        return None

    def hint(self, name: str) -> str:
        """How to set a secret here."""
        return f"with `keyring set {self._service} {name}`"

    def _give_up(self, reason: str) -> None:
        self._gave_up = True
        logger.warning("the keyring cannot be used, so no secret comes from it: %s", reason)


def _password(service: str, name: str) -> str | None:
    import keyring

    return keyring.get_password(service, name)


def _within(seconds: float, ask: Callable[[], str | None]) -> str | None:
    """What a function gives, in a thread that is left alone when it takes longer.

    Raises:
        TimeoutError: it took longer.
        Exception: what it raised.
    """
    given: list[str | None] = []
    raised: list[BaseException] = []
    done = Event()

    def run() -> None:
        try:
            given.append(ask())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            raised.append(error)
        finally:
            done.set()

    Thread(target=run, name="pegboard-keyring", daemon=True).start()
    if not done.wait(seconds):
        raise TimeoutError
    if raised:
        raise raised[0]
    return given[0]
