"""A foreign authorization server on loopback: the npm package oidc-provider."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Self

from tests.support.issuer import RESOURCE
from tests.support.npm import installed, node

VERSION = "9.13.3"
SCRIPT = Path(__file__).with_name("oidc_provider.mjs")
WAIT = 60.0
TOOLS_SECRET = "tools:secret/0123456789 +%"
"""The secret of the client `the tools`, which may introspect tokens."""


def free_port() -> int:
    """Return a port that is not in use."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class OidcProvider:
    """The server: `async with OidcProvider() as provider`.

    With the algorithm "OPAQUE" its access tokens require introspection. `vault` adds a client with refresh tokens.
    `token_seconds` is the life of its access tokens. With `certificate`, the file of a certificate that it trusts, it
    reads client id metadata documents, and registers no clients.
    """

    def __init__(
        self,
        algorithm: str = "RS256",
        resource: str = RESOURCE,
        *,
        vault: bool = False,
        token_seconds: int = 3600,
        certificate: Path | None = None,
    ) -> None:
        self.more = ("vault" if vault else "", str(token_seconds), "documents" if certificate else "")
        self._env = {**os.environ, **({"NODE_EXTRA_CA_CERTS": str(certificate)} if certificate else {})}
        self.algorithm = algorithm
        self.resource = resource
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def guard(self) -> str:
        """The sections of a host that accepts its tokens for its resource."""
        return f"""
[plugins.resource_server]
resource = "{self.resource}"
challenge_scopes = ["openid", "work"]

[[plugins.resource_server.authorization_servers]]
issuer = "{self.url}"
"""

    async def __aenter__(self) -> Self:
        script = await asyncio.to_thread(installed, SCRIPT, "oidc-provider", VERSION)
        command = node(), script, str(self.port), self.resource, self.algorithm, *self.more
        self._process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=self._env
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(WAIT):
            while b"listening" not in (line := await self._process.stdout.readline()):
                assert line, "it has ended"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.communicate()
