"""The contract for error adapters."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.errors import ToolRuntimeError


class ErrorAdapter(ABC):
    """Converts the exceptions of a library into typed errors for the caller. It lives as long as the host.

    Attributes:
        slug: a short name for logs and for the `service` of an error's `extra`.
        fallback: True if the host calls the adapter after all others.
    """

    slug: str
    fallback: bool = False

    @abstractmethod
    def from_exception(self, error: Exception) -> "ToolRuntimeError | None":
        """Convert an exception of an author's function to a typed error. Return None for an unknown exception.

        The host calls this method on the event loop, so the method must not block. The caller receives the error's
        message and machine-readable fields. They must not contain headers, bodies, or URLs with a query.
        `developer_message` appears only in the log. If the method raises an exception, the host logs the exception and
        calls the next adapter.
        """
