"""One HTTP server process on a loopback port."""

from __future__ import annotations

import socket
import time

from benchmarks.contenders import Contender
from benchmarks.process import TIMEOUT_SECONDS, Process

_PAUSE_SECONDS = 0.005


class HttpServer(Process):
    """A contender that serves over HTTP. The constructor returns when the server accepts connections.

    Args:
        contender: the contender.
        cpus: the processors that it may use; None for all.
        more_tools: the number of additional tools.
        variables: more environment variables.

    Attributes:
        port: its port.
        ready_seconds: the time until it listened.
    """

    def __init__(
        self, contender: Contender, cpus: set[int] | None, more_tools: int = 0, variables: dict[str, str] | None = None
    ) -> None:
        self.port = free_port()
        environ = contender.environ(more_tools, self.port, **(variables or {}))
        super().__init__(contender.serve, environ, cpus, pipes=False)
        try:
            self._wait_until_it_listens()
            if self.uses("/uvloop/") != contender.uvloop:
                self._fail("the event loop is not the one that the contender's name says")
        except BaseException:
            self.stop()
            raise
        self.ready_seconds = self.age_seconds()

    def _wait_until_it_listens(self) -> None:
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS).close()
            except ConnectionRefusedError:
                if self._process.poll() is not None or self.age_seconds() > TIMEOUT_SECONDS:
                    self._fail("it does not listen")
                time.sleep(_PAUSE_SECONDS)
            else:
                return


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
