"""The contract of error adapters."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pegboard.errors import ToolRuntimeError


class ErrorAdapter(Protocol):
    """Knows the exceptions of some library, and what they mean to the one who called the tool.

    Attributes:
        slug: a short name for logs and for the `service` of an error's `extra`.
    """

    slug: str

    def from_exception(self, error: Exception) -> "ToolRuntimeError | None":
        """The error that an exception of an author's function amounts to, None when it is not one of this library's.

        Its message and its machine-readable fields go to the caller, so they hold no URL with its query, no header and
        no body; those of `developer_message` go to the log.
        """
        ...
