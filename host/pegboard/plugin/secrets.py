"""The contract of secret stores."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


class SecretStore(Protocol):
    """A place that secrets come from.

    It may have a method `hint(name: str) -> str` that tells people how to set a secret there: "in the environment". Its
    attribute `files_read`, if it has one, lists the files that it has read. The host logs them when it starts.
    """

    name: str

    def get(self, name: str) -> str | None:
        """The secret of that name, None when this store has none.

        Asked once, on the event loop: when the host assembles, or when the first tool that needs it is added. One
        that may have to wait gives up by itself.
        """
        ...
