"""Descriptors on every system: duplicates, pipes, and whether the system reports that one is ready."""

from __future__ import annotations

import os
import select
from typing import Final

CAN_POLL: Final = hasattr(select, "poll")
"""False on Windows, where neither an event loop nor `select` watches pipes. Threads that block take their place."""
_FIRST_PRIVATE = 3


def private_duplicate(descriptor: int) -> int:
    """Return a duplicate that is not a standard descriptor, even if one of those is closed. Children do not get it."""
    duplicate = os.dup(descriptor)
    if duplicate >= _FIRST_PRIVATE:
        return duplicate
    try:
        return private_duplicate(descriptor)
    finally:
        os.close(duplicate)


def private_pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not standard descriptors: one to read from, one to write to."""
    ends = os.pipe()
    exit_, entrance = map(private_duplicate, ends)
    for end in ends:
        os.close(end)
    return exit_, entrance


def is_same_file(descriptor: int, other: int) -> bool:
    """Return True if two descriptors lead to the same file. Return False for pipes on Windows."""
    status = os.fstat(descriptor)
    return status.st_ino != 0 and os.path.samestat(status, os.fstat(other))


def write_all(descriptor: int, data: bytes | bytearray) -> None:
    """Write all data to a descriptor that blocks."""
    written = 0
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])
