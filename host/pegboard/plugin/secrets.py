"""The contract of secret stores."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


class SecretStore(Protocol):
    """A store of secrets. It lives as long as the host.

    A store may have a method `hint(name: str) -> str` that says how to set a secret there, such as "in the
    environment", and an attribute `files_read` with the paths of the files that it has read. The host logs them when it
    starts.

    Attributes:
        name: the name of the store in messages.
    """

    name: str

    def get(self, name: str) -> str | None:
        """Return the secret of that name, or None if this store has none.

        The host calls this once per secret, on the event loop: when it starts, or when the first tool that needs the
        secret is added. A store that may block must limit the time itself. If it raises, the host reports the message
        and asks the next store, so the message must not contain a secret.
        """
        ...
