"""The contracts for secret stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class SecretStore(ABC):
    """A store of secrets. It lives as long as the host.

    Attributes:
        name: the name of the store in messages.
        files_read: the paths of files that the store read. The host logs them when it starts, and a
            reload loads the plugin again if one of the files has changed.
    """

    name: str
    files_read: Sequence[str] = ()

    @abstractmethod
    def get(self, name: str) -> str | None:
        """Return the secret `name`, or None if the store does not have it.

        The host calls this method once per secret, on the event loop: when the host starts, or when the first tool that
        requires the secret is added. A store that may block must limit the time itself. If the method raises, the host
        reports the exception's message and calls the next store. The message must not contain a secret.
        """

    def hint(self, name: str) -> str:
        """Return where to set the secret `name`, such as "in the environment"."""
        return f"in {self.name}"


class WritableSecretStore(SecretStore):
    """A secret store in which `pegboard secret` can set secrets. The host itself never writes."""

    @abstractmethod
    def set(self, name: str, value: str) -> str:
        """Store a secret in place of the old one, and return the place for the operator, such as the path of a file.

        Raises:
            ValueError: the store cannot hold this name or value, or it is not set up. The message contains the fix and
                not the value.
            OSError: the store cannot be written.
        """

    @abstractmethod
    def unset(self, name: str) -> bool:
        """Remove a secret. Return False if the store does not have it.

        Raises:
            ValueError: the store is not set up.
            OSError: the store cannot be written.
        """
