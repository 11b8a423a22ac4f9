"""Tools whose logs and errors contain the arguments of the caller. The module is copied into a distribution."""

from __future__ import annotations

import logging
import threading
import warnings

from pegboard import Context, Toolkit, UpstreamError

kit = Toolkit("logs")


@kit.tool
async def tell(context: Context, text: str) -> str:
    """Log a text: for the client, and by a logger of the toolkit's own."""
    context.log.warning(text)
    logging.getLogger("logs.own").warning("it said %s", text)
    return "told"


@kit.tool
def crash(text: str) -> str:
    """Fail unexpectedly, in a thread."""
    raise ValueError(text)


@kit.tool
async def upstream(status: int, text: str) -> str:
    """Fail as a service does."""
    try:
        raise OSError(text)
    except OSError as error:
        raise UpstreamError("The service refused.", text, status_code=status) from error


@kit.tool
def warn(text: str) -> str:
    """Warn."""
    warnings.warn(text, stacklevel=1)
    return "warned"


@kit.tool
def end_thread(text: str) -> str:
    """End a new thread by an exception."""

    def end() -> None:
        raise ValueError(text)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    return "ended"


@kit.tool
def break_finalizer(text: str) -> str:
    """Let an exception happen that Python cannot raise."""

    class Broken:
        def __del__(self) -> None:
            raise ValueError(text)

    Broken()
    return "broken"
