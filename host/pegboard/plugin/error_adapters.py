"""The contract of error adapters."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pegboard.errors import ToolRuntimeError


class ErrorAdapter(Protocol):
    """Converts the exceptions of a library into typed errors for the caller. It lives as long as the host.

    An adapter may have an attribute `fallback`. If it is True, the host asks the adapter after all others.

    Attributes:
        slug: a short name for logs and for the `service` of an error's `extra`.
    """

    slug: str

    def from_exception(self, error: Exception) -> "ToolRuntimeError | None":
        """Return the typed error for an exception of an author's function, or None for an unknown exception.

        The host calls this on the event loop, so it must not block. The caller receives the error's message and
        machine-readable fields: they must not contain headers, bodies, or URLs with a query. Only the log receives
        `developer_message`. If this raises, the host logs it and asks the next adapter.
        """
        ...
