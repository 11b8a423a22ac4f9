"""The limit on the total size of large bodies."""

from __future__ import annotations

from collections.abc import Hashable

LARGE_BODY_BYTES = 64 * 1024
"""Bodies above this size count as large."""
MAX_LARGE_BODIES_BYTES = 512 * 1024 * 1024
"""The maximum total size of the large bodies of all requests and streams. Their parsed values take memory too."""


class LargeBodies:
    """The large bodies of the requests of one server.

    Args:
        max_body_bytes: the largest body.
    """

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._sizes: dict[Hashable, int] = {}

    def has_room(self, size: int | None, request: Hashable) -> bool:
        """Count a large body until its request ends.

        Return False if the total would exceed the limit. A body of unknown size counts as the largest body.
        """
        self.forget(request)
        size = self._max_body_bytes if size is None else size
        if size <= LARGE_BODY_BYTES:
            return True
        others = sum(self._sizes.values())
        if others and others + size > MAX_LARGE_BODIES_BYTES:
            return False
        self._sizes[request] = size
        return True

    def forget(self, request: Hashable) -> None:
        """Stop to count the body of a request."""
        self._sizes.pop(request, None)
