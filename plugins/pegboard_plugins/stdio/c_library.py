"""The output buffer of the C library: what C code prints stays in it until somebody empties it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


@cache
def _flusher() -> Callable[[], object] | None:
    """Empties C's `stdout` and only that: `fflush(NULL)` would wait for streams that others are reading."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        stream = ctypes.c_void_p.in_dll(library, "stdout")
        flush = library.fflush
    except (ImportError, OSError, ValueError, AttributeError):
        return None  # an interpreter or a C library of another make
    flush.argtypes = [ctypes.c_void_p]

    def empty() -> object:
        return flush(stream)

    return empty


def flush_output() -> None:
    """Write out what C code has printed so far. Loads what it needs when first called."""
    flush = _flusher()
    if flush is not None:
        flush()
