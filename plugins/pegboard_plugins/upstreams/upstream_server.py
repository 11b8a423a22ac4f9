"""A mounted server: its connections, and the lists of its items."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, NamedTuple, TypeAlias

from pegboard import Context
from pegboard.types import ToolAuthorization
from pegboard_plugins.upstreams.server_config import ServerConfig

RawItem: TypeAlias = Mapping[str, Any]
"""An item as the server lists it."""
RawKind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]


class UpstreamLists(NamedTuple):
    """The lists of one connection, as the server sent them, within the limits."""

    tools: tuple[RawItem, ...] = ()
    resources: tuple[RawItem, ...] = ()
    templates: tuple[RawItem, ...] = ()
    prompts: tuple[RawItem, ...] = ()


class UpstreamServer:
    """One mounted server.

    Attributes:
        name: the name of its section.
        config: its settings.
        logger: the log of the plugin.
        authorization: the token that a call needs, or None.
    """

    def __init__(self, name: str, config: ServerConfig, logger: logging.Logger) -> None:
        self.name = name
        self.config = config
        self.logger = logger
        self.authorization: ToolAuthorization | None = None

    def use(self, context: Context[Any]) -> AbstractAsyncContextManager[Any]:
        """Return the connection for the caller, open for one call.

        With `identity = "user"` it is the caller's own connection. It stays open at least until the block ends.

        Raises:
            NetworkTransportError: the server is not connected. The error names the server and the next attempt.
            AuthorizationRequiredError: the caller has no token for the server.
            NotFoundError: the server has a connection for each caller, and the caller is anonymous.
        """
        raise NotImplementedError

    def meta(self, context: Context[Any]) -> dict[str, Any]:
        """Return the members of `_meta` for each request that a call sends to the server.

        Raises:
            ProtocolError: the request has passed through too many hosts.
        """
        raise NotImplementedError
