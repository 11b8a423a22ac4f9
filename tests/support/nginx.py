"""nginx in front of `pegboard serve`, on loopback: the Debian package, without installing it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import pytest

from tests.support.http import Line, Served
from tests.support.peer import LIMIT, WAIT
from tools.install import ROOT

fcntl, grp, pwd = map(pytest.importorskip, ("fcntl", "grp", "pwd"))
PLACE = ROOT / ".cache" / "nginx"
NAME = "tools.example.com"
TEMPORARY = "".join(f"{kind}_temp_path temporary;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
USER = f"{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}"
MAIN = f"user {USER}; pid pid; error_log stderr; events {{}} http {{ access_log off; {TEMPORARY}\n%s\n}}"


def installed() -> Path:
    """Return the program, unpacked from its package if the machine has none. Skip the test without either."""
    if own := shutil.which("nginx", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/opt/homebrew/bin"):
        return Path(own)
    program = PLACE / "usr" / "sbin" / "nginx"
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not program.exists():
                subprocess.run(["apt-get", "download", "nginx"], cwd=PLACE, capture_output=True, check=True)
                (package,) = PLACE.glob("nginx_*.deb")
                subprocess.run(["dpkg-deb", "-x", package, PLACE], capture_output=True, check=True)
            subprocess.run([program, "-v"], capture_output=True, check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            pytest.skip(f"nginx is not available: install it, or let apt-get download it: {error}")
    return program


class Proxied(Served):
    """A process of `pegboard serve` behind nginx. Every request of a test goes to nginx.

    Args:
        nginx: the configuration of the site, which names `127.0.0.1:8000` or a socket for pegboard.
        certificate: a folder with `cert.pem` and `key.pem`.
    """

    def __init__(self, *arguments: Any, nginx: str, certificate: Path | None = None, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._nginx = nginx
        self._certificate = certificate

    async def __aenter__(self) -> Self:
        program = await asyncio.to_thread(installed)
        async with AsyncExitStack() as stack:
            await super().__aenter__()
            stack.push_async_callback(super().__aexit__)
            folder = self.cwd / "nginx"
            folder.mkdir()
            await self._front(program, folder)
            stack.pop_all()
        return self

    async def _front(self, program: Path, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener, (self.cwd / "nginx.log").open("wb") as log:
            self.front = listener.getsockname()[1]
            site = re.sub(r"listen \d+", f"listen 127.0.0.1:{self.front}", self._nginx)
            if not self.url.startswith("unix:"):
                site = site.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
            site = re.sub(r"/etc/ssl/\S+\.pem;", f"{self._certificate}/cert.pem;", site)
            site = re.sub(r"/etc/ssl/\S+\.key;", f"{self._certificate}/key.pem;", site)
            (folder / "nginx.conf").write_text(MAIN % site, "utf-8")
            options = ("-e", "stderr", "-p", folder, "-c", folder / "nginx.conf")
            self._proxy = await asyncio.create_subprocess_exec(
                *(program, *options, "-g", "daemon off; worker_processes 1;"),
                pass_fds=(listener.fileno(),),
                env={"NGINX": f"{listener.fileno()};"},  # nginx takes a listening socket over, as in its upgrades
                stderr=log,
            )

    async def __aexit__(self, *_: object) -> None:
        for line in self.lines:
            line.abort()
        if self._proxy.returncode is None:
            self._proxy.terminate()  # it ends its workers, too
        await self._proxy.wait()
        await super().__aexit__()

    async def connect(self, host: str = "127.0.0.2", *, tls: ssl.SSLContext | None = None) -> Line:
        """Open a connection to nginx, from another address than that of nginx."""
        if self._certificate is not None:
            tls = ssl.create_default_context(cafile=str(self._certificate / "cert.pem"))
        name = NAME if tls else None
        async with asyncio.timeout(WAIT):
            streams = await asyncio.open_connection(
                "127.0.0.1", self.front, limit=LIMIT, ssl=tls, server_hostname=name, local_addr=(host, 0)
            )
        self.lines.append(line := _Named(*streams))
        return line


class _Named(Line):
    """A connection whose requests are for the public name."""

    async def send(self, data: bytes) -> None:
        """Send bytes. The public name replaces the host that tests use."""
        await super().send(data.replace(b"\r\nHost: localhost\r\n", f"\r\nHost: {NAME}\r\n".encode(), 1))
