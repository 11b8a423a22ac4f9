"""A cache of responses for conditional requests, limited in bytes. GitHub validates every cached response."""

from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple

__all__ = ["Cache", "Kept"]

_LARGEST_SHARE = 4
"""A response may use a quarter of the budget."""


class Kept(NamedTuple):
    """A response: ETag, `Link` header and body."""

    etag: str
    link: str
    body: bytes


class Cache:
    """The most recently used responses by token and URL. Tokens are stored as digests only."""

    def __init__(self, budget: int) -> None:
        """Create a cache of at most `budget` bytes."""
        self._budget = budget
        self._size = 0
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of cached responses."""
        return len(self._kept)

    @staticmethod
    def key(token: str, accept: str, url: str) -> bytes:
        """Return the key of a response: a digest that reveals neither token nor URL."""
        return sha256(f"{token}\0{accept}\0{url}".encode()).digest()

    def get(self, key: bytes) -> Kept | None:
        """Return a cached response and mark it as recently used."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: bytes, kept: Kept) -> None:
        """Store a response instead of an older response. Drop the least recently used responses beyond the budget."""
        old = self._kept.pop(key, None)
        self._size -= _weight(old) if old else 0
        if _weight(kept) > self._budget // _LARGEST_SHARE:
            return
        self._kept[key] = kept
        self._size += _weight(kept)
        while self._size > self._budget:
            _, gone = self._kept.popitem(last=False)
            self._size -= _weight(gone)


def _weight(kept: Kept) -> int:
    return len(kept.body) + len(kept.link) + len(kept.etag) + 32
