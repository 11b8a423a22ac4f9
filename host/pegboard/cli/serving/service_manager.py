"""Messages to the service manager that started this process (`sd_notify`): ready, alive, stopping."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import suppress


class ServiceManager:
    """A service manager that listens at the socket `NOTIFY_SOCKET`. Messages that it does not accept are dropped."""

    def __init__(self, address: str, watchdog_seconds: float | None) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._watchdog_seconds = watchdog_seconds
        self._is_ready = False

    def ready(self, status: str) -> None:
        """Report that the host serves, with a line for `systemctl status`. From now on report that it is alive."""
        self._send(f"READY=1\nSTATUS={status}\nMAINPID={os.getpid()}")
        if self._watchdog_seconds is not None and not self._is_ready:
            self._alive(self._watchdog_seconds / 2)
        self._is_ready = True

    def reloaded(self) -> None:
        """Report that a reload has ended."""
        self._send(f"READY=1\nMAINPID={os.getpid()}")

    def stopping(self) -> None:
        """Report that the host stops."""
        self._send("STOPPING=1")

    def _alive(self, seconds: float) -> None:
        """Report at intervals that the event loop runs."""
        self._send("WATCHDOG=1")
        asyncio.get_running_loop().call_later(seconds, self._alive, seconds)

    def _send(self, message: str) -> None:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


def service_manager(environ: Mapping[str, str]) -> ServiceManager | None:
    """Return the service manager of this process, if it has one."""
    address = environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return None
    microseconds = environ.get("WATCHDOG_USEC", "")
    is_watched = microseconds.isdecimal() and environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return ServiceManager(address, int(microseconds) / 1_000_000 if is_watched else None)
