"""The operator token in a program that embeds the host: for routes and message streams alike."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from pegboard.plugin import Authenticator, Plugin, ProtocolContext, Route
from pegboard.secrets.redaction import redacted
from pegboard.types import ANONYMOUS, LOCAL, Caller, EventStream, Request, Response
from tests.host.hosting import make_host, plugin_of

TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz-token"


class Door(Authenticator):
    """Admits only Ada."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    async def authenticate(self, request: Request) -> Caller | Response:
        return Caller("ada") if request.headers.get("X-Ada") else Response(401)


def plugin(guarded: str) -> type[Plugin]:
    """Return a plugin with a route for each of three policies, and authenticators for some."""

    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        return Response(200, repr(request.caller).encode())

    routes = [Route("GET", f"/{policy}", answer, policy) for policy in ("mcp", "vault", "public")]
    return plugin_of(register_authenticators=[*map(Door, guarded.split())], register_routes=routes)


OPERATOR = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("guarded", "policy", "field", "route", "stream"),
    [
        ("", "mcp", OPERATOR, LOCAL, LOCAL),
        ("", "mcp", {"Authorization": "Bearer other"}, ANONYMOUS, ANONYMOUS),
        ("", "mcp", {}, ANONYMOUS, ANONYMOUS),
        ("", "vault", OPERATOR, 404, 403),
        ("", "public", OPERATOR, LOCAL, LOCAL),
        ("mcp vault", "mcp", OPERATOR, 401, 401),
        ("mcp vault", "vault", OPERATOR, 401, 401),
        ("mcp", "mcp", {**OPERATOR, "X-Ada": "1"}, Caller("ada"), Caller("ada")),
    ],
)
async def test_the_operator_token_opens_policies_without_authenticators(
    guarded: str, policy: str, field: dict[str, str], route: Caller | int, stream: Caller | int
) -> None:
    async with make_host(plugins={"p": plugin(guarded)}) as host:
        host.admit_operator(TOKEN)
        request = Request("GET", f"/{policy}", {}, CIMultiDict(field))
        answer, caller = await host.respond(request), await host.for_protocols.authenticate(request, policy)
        assert isinstance(answer, Response)
        assert (answer.body.decode() if answer.status == 200 else answer.status) in (route, repr(route))
        assert (caller.status if isinstance(caller, Response) else caller) == stream
        assert TOKEN not in redacted(f"the token {TOKEN}")
