"""Answers kept for conditional requests, within a budget of bytes. GitHub is always asked before one is used."""

from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple

__all__ = ["Cache", "Kept"]

_LARGEST_SHARE = 4
"""One answer may take this part of the budget: a quarter."""


class Kept(NamedTuple):
    """An answer: its ETag, its `Link` header and its body."""

    etag: str
    link: str
    body: bytes


class Cache:
    """The answers used last, by token and URL; a token is known by its digest alone."""

    def __init__(self, budget: int) -> None:
        """Keep `budget` bytes at most."""
        self._budget = budget
        self._size = 0
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._kept)

    @staticmethod
    def key(token: str, accept: str, url: str) -> bytes:
        """Return the key of a response. Its parts cannot be read from it."""
        return sha256(f"{token}\0{accept}\0{url}".encode()).digest()

    def get(self, key: bytes) -> Kept | None:
        """Return a cached response, and renew it."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: bytes, kept: Kept) -> None:
        """Keep an answer in the place of an older one; those used longest ago make room."""
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
