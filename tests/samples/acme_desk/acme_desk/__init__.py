"""A plugin with facts: commands, an option, a check, a policy, a transport and a variable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NoReturn

from pegboard import PluginConfig
from pegboard.plugin import Authenticator, Plugin, Route, Transport, TransportContext, hookimpl
from pegboard.types import Caller, Request, Response


class DeskConfig(PluginConfig):
    """`[plugins.acme_desk]`."""

    owner: str = "nobody"


class DeskTransport(Transport):
    """Waits until the host stops."""

    name = "acme_desk"

    async def run(self, host: TransportContext) -> NoReturn:
        host.opened("the desk", local=True)
        await asyncio.Event().wait()
        raise AssertionError("a transport is cancelled")


class OwnerOnly(Authenticator):
    """Admits nobody."""

    policy = "desk"

    async def authenticate(self, request: Request) -> Caller | Response:
        return Response(401)


class DeskPlugin(Plugin):
    """Brings the transport, the authenticator and a route of its policy."""

    Config = DeskConfig

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [DeskTransport()]

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        return [OwnerOnly()]

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        async def desk(request: Request) -> Response:
            return Response(200, b"the desk")

        return [Route("GET", "/desk", desk, auth="desk")]
