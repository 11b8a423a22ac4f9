"""Logins at MCP servers in the state directory of the user. Only the user can read the files."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pegboard.errors import MCPError
from pegboard.plugin import StateFiles, decode, encode


class LoginStore:
    """A `TokenStore` with one file for each server.

    Args:
        environ: the environment variables that select the state directory.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._files = StateFiles(environ)

    async def load(self, server: str) -> Mapping[str, Any] | None:
        """Return the login at a server. A damaged file counts as absent."""
        try:
            content = self._files.read(_file(server))
        except OSError as error:
            raise MCPError(f"the login at {server} cannot be read: {error.strerror or error}") from error
        try:
            login = None if content is None else decode(content)
        except ValueError:
            return None
        return login if isinstance(login, dict) else None

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server."""
        try:
            if login is None:
                self._files.remove(_file(server))
            else:
                self._files.write(_file(server), encode(login))
        except OSError as error:
            raise MCPError(f"the login at {server} cannot be saved: {error.strerror or error}") from error


def _file(server: str) -> str:
    return f"login-{sha256(server.encode()).hexdigest()[:32]}.json"
