"""The output buffer of the C library, which holds the output of C code until it is flushed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial


@cache
def _flusher() -> Callable[[], object]:
    """Return a function that flushes C's `stdout`. `fflush(NULL)` would wait for streams that other threads read."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        stream = ctypes.c_void_p.in_dll(library, "stdout")
        flush = library.fflush
    except (ImportError, OSError, TypeError, ValueError, AttributeError):
        return lambda: None  # a different interpreter or C library
    flush.argtypes = [ctypes.c_void_p]
    return partial(flush, stream)


def flush_output() -> None:
    """Flush the output of C code. The first call loads `ctypes`."""
    _flusher()()
