"""Commands in forks of a process that has imported pegboard: real processes, without the time of the imports."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from select import select

MODULES = [
    *(f"pegboard.cli.{name}" for name in ("call", "config_commands", "listing", "no_command", "plugin_commands")),
    *(f"pegboard.cli.{name}" for name in ("serve", "trust_commands", "why", "new_toolkits")),
    *(
        f"pegboard_plugins.{name}"
        for name in ("auth_providers", "logging", "mcp", "stdio", "worker", "worker.handlers")
    ),
]


class Forks:
    """A process that forks for each command."""

    def __init__(self) -> None:
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(other.fileno())],
                env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )

    def run(self, arguments: Sequence[str], streams: Sequence[int], cwd: Path, env: Mapping[str, str]) -> int:
        """Run `pegboard` with these arguments and standard streams. Return its exit code."""
        reading, writing = os.pipe()
        try:
            request = json.dumps([list(arguments), str(cwd), dict(env)]).encode()
            socket.send_fds(self._channel, [request], [*streams, writing])
        finally:
            os.close(writing)
        with open(reading, "rb") as status:
            pid = int(status.readline())
            if not select([status], (), (), 60)[0]:
                os.kill(pid, 9)
            return int(status.read())


@cache
def forks() -> Forks:
    """Return the one of this process."""
    return Forks()


def _serve(channel: socket.socket) -> int:
    while True:
        message, descriptors, *_ = socket.recv_fds(channel, 1_000_000, 4)
        if not message:
            return 0
        if not os.fork():
            channel.close()
            return _run(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                """Another one has ended."""


def _run(request: list[object], descriptors: list[int]) -> int:
    arguments, cwd, env = request
    *streams, status = descriptors
    if child := os.fork():
        for descriptor in streams:
            os.close(descriptor)
        os.write(status, b"%d\n" % child)
        _, result = os.waitpid(child, 0)
        os.write(status, b"%d" % os.waitstatus_to_exitcode(result))
        os._exit(0)
    os.close(status)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    assert isinstance(env, dict)
    os.chdir(str(cwd))
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = env["PYTHONPATH"].split(os.pathsep)
    assert isinstance(arguments, list)
    from pegboard.cli import main

    return main(arguments)


if __name__ == "__main__":
    for name in MODULES:
        import_module(name)
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
