"""A host on HTTP whose callers log in at other services, and what these callers do."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.support.config import section
from tests.support.http import Served
from tests.support.http_mcp import ask, message
from tests.support.issuer import RESOURCE
from tests.support.login_issuer import LoginIssuer
from tests.support.person import Person


def caller_sections(issuer: str, url: str = "", **callers: str) -> str:
    """Return the sections of a host that accepts the tokens of an issuer; with its own URL it has pages for callers."""
    sections = section("plugins.resource_server", {"resource": RESOURCE})
    sections += section("[plugins.resource_server.authorization_servers]", {"issuer": issuer})
    settings = {"url": url, "issuer": issuer, "client_id": "vault", **callers}
    return sections + section("plugins.vault", {}) + (section("plugins.vault.callers", settings) if url else "")


class Network(NamedTuple):
    """The host, the issuer of its callers, and a call that needs a login."""

    served: Served
    issuer: LoginIssuer
    call: dict[str, Any]

    async def ask(self, user: str, request: dict[str, Any] | None = None, **claims: Any) -> dict[str, Any]:
        """Return the result of a user's request, or of the call."""
        bearer = f"Bearer {self.issuer.token(sub=user, **claims)}"
        return (await ask(self.served, request or self.call, Authorization=bearer)).result

    async def tools(self, user: str, **claims: Any) -> list[str]:
        """Return the names of the tools that a user sees."""
        return [tool["name"] for tool in (await self.ask(user, message("tools/list"), **claims))["tools"]]

    async def text(self, user: str, **claims: Any) -> str:
        """Return the text of the result of a user's call."""
        return str((await self.ask(user, **claims))["content"][0]["text"])

    async def link(self, user: str, request: dict[str, Any] | None = None, **claims: Any) -> str:
        """Return the link in the error of a call without a login."""
        error = (await self.ask(user, request, **claims))["_meta"]["pegboard/error"]
        return str(error["authorizationRequired"]["url"])

    async def log_in(self, user: str, request: dict[str, Any] | None = None, *, key: str = "", **claims: Any) -> Person:
        """Log in as a user, or paste a key. Return the browser."""
        link = await self.link(user, request, **claims)
        self.issuer.user = user
        async with Person(**({"key": key} if key else {})) as person:
            await person.open(link)
        return person
