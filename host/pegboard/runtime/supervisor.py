"""The supervision of transports. A transport that fails is restarted and does not affect other transports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from pegboard.errors import ConfigError, PluginError, TransportError
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.transports import Transport, TransportContext

MIN_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 30.0
"""The maximum delay. The delay doubles after each failure. A transport that ran longer than this resets the delay."""

logger = logging.getLogger("pegboard.transports")


class _Running(NamedTuple):
    """A running transport: its host, its name, and a function that is called when it has opened its channel."""

    host: TransportContext
    name: str
    on_opened: Callable[[], None]


_running: ContextVar[_Running | None] = ContextVar("pegboard.running_transport", default=None)
"""The transport whose task, or a task that it has begun, runs now."""


def note_opened() -> None:
    """Record that the current task's transport has opened its channel."""
    if (running := _running.get()) is not None:
        running.on_opened()


def running_transport(host: TransportContext) -> str:
    """Return the name of the current task's transport; "" if it is not one of this host."""
    running = _running.get()
    return running.name if running is not None and running.host is host else ""


def chosen_transports(available: Mapping[str, Transport], names: Iterable[str]) -> Sequence[Transport]:
    """Return transports by their names.

    Raises:
        TransportError: a transport is unknown.
    """
    chosen = list(names)
    for name in chosen:
        if name not in available:
            raise TransportError(f"no enabled plugin provides the transport {name!r}: add it to transports in [host]")
    return [available[name] for name in chosen]


async def run_all(
    transports: Sequence[Transport], host: TransportContext, restarting: set[str], lost: Coroutine[Any, Any, None]
) -> None:
    """Run transports until one of them ends. Then stop the other transports.

    Args:
        transports: the transports.
        host: the host.
        restarting: a set that contains the name of each transport from its failure until it is open again.
        lost: ends with an error if the host may serve no longer, because another process uses one of its stores.

    Raises:
        TransportError: a transport cannot be opened, or fails while it starts.
        ConfigError, PluginError: the configuration forbids the channel, or a store cannot be opened or is lost.
    """
    tasks = [
        asyncio.create_task(_keep_running(transport, host, restarting), name=transport.name) for transport in transports
    ]
    tasks.append(asyncio.create_task(lost))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        restarting.clear()


async def _keep_running(transport: Transport, host: TransportContext, restarting: set[str]) -> None:
    clock = asyncio.get_running_loop().time
    cause: BaseException
    delay = 0.0
    opened = False

    def on_opened() -> None:
        nonlocal opened
        opened = True
        restarting.discard(transport.name)

    _running.set(_Running(host, transport.name, on_opened))
    while True:
        started = clock()
        try:
            return await transport.run(host)
        except (TransportError, ConfigError, PluginError) as error:
            if not delay or (isinstance(error, TransportError) and error.final):
                raise
            cause = error
            what = "cannot be opened again"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is logged below
            cause = error
            what = "died"
        lasted = clock() - started > MAX_DELAY_SECONDS
        if not (opened or lasted or delay):
            logger.error("transport %s failed while it started", transport.name, exc_info=cause)
            raise TransportError(
                f"transport {transport.name} failed while it started: {describe_error(cause)}"
            ) from cause
        delay = MIN_DELAY_SECONDS if lasted or not delay else min(delay * 2, MAX_DELAY_SECONDS)
        restarting.add(transport.name)
        logger.error("transport %s %s; it is started again in %s s", transport.name, what, delay, exc_info=cause)
        await asyncio.sleep(delay)
        if not opened:  # this transport does not report that it is open
            restarting.discard(transport.name)
