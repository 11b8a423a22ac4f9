"""The addresses of mounted servers: commands and URLs."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.plugin import TransportError
from pegboard_client import Endpoint, HttpAuth, Program
from pegboard_plugins.servers.upstreams.hops import mounted_by
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.settings import ServerConfig

if TYPE_CHECKING:
    from pegboard_plugins.servers.upstreams.user_links import Connection


class UserToken:
    """The token of a user, for each HTTP request of the user's connection.

    Args:
        user: the connection.
    """

    def __init__(self, user: Connection) -> None:
        self._user = user

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the header with the token."""
        return {} if self._user.token is None else {"Authorization": f"Bearer {self._user.token}"}

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Return False: only the source of the token can renew it."""
        return False


def server_address(
    name: str, config: ServerConfig, folder: Path, log: ServerLog, auth: HttpAuth | None
) -> Program | Endpoint:
    """Return the address of a server.

    Args:
        name: the name of the server.
        config: its settings.
        folder: the working directory of a command without `cwd`.
        log: the log, which gets the standard error of a command.
        auth: the credentials of a connection to a URL; None for none.

    Raises:
        TransportError: the command is not on PATH.
        LoopError: this process is the server itself.
    """
    if config.url is not None:
        return Endpoint(config.url, headers=config.fixed_headers, auth=auth)
    assert config.command is not None
    program = shutil.which(config.command)
    if program is None:
        raise TransportError(f"the command {config.command!r} is not on PATH, or is not executable")

    def hear(line: str) -> None:
        log.write(logging.INFO, ", standard error", line)

    own = {key: value.get_secret_value() for key, value in config.env.items()}
    variables = own | mounted_by(str(folder), name, program, *config.args)
    return Program(program, config.args, env=variables, cwd=config.cwd or folder, stderr=hear)
