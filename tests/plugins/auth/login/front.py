"""A host with the plugin `login` in the process of the test, and a client program that a test plays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

import aiohttp

from pegboard import Context, Host, Toolkit
from tests.host.hosting import listening
from tests.support.http_mcp import opening
from tests.support.loopback_server import challenge_of
from tests.support.oidc import free_port
from tests.support.person import Person

BACK = "http://127.0.0.1:1/callback"
"""The redirect URI of the client, where no server listens."""
VERIFIER = "0123456789abcdefghijklmnopqrstuvwxyz-0123456789"
CHALLENGE = challenge_of(VERIFIER)
KEY = "0123456789abcdefghijklmnopqrstuvwxyz"
CONFIG = """
[plugins.login]
resource = "http://127.0.0.1:8000/mcp"
everyone = true
provider = { issuer = "http://127.0.0.1:9", client_id = "host" }
"""
"""The section of a host that is not reached."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str
    cookies: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def kit() -> Toolkit:
    made = Toolkit("t", prefix=False)

    @made.tool
    def who(context: Context) -> str:
        """Return the caller."""
        caller = context.auth_info
        return "nobody" if caller is None else f"{caller.subject} {sorted(caller.scopes)} {dict(caller.extra or {})}"

    @made.tool(scopes=["work"])
    def guarded() -> str:
        """Require a scope."""
        return "done"

    return made


class Desk:
    """A client program of a host at a URL: `async with Desk(url) as desk`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.resource = f"{url}/mcp"

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def get(self, path: str, **fields: str) -> Answer:
        return await self._send("GET", path, headers=fields)

    async def post(self, path: str, form: dict[str, str], **fields: str) -> Answer:
        return await self._send("POST", path, data=form, headers=fields)

    async def register(self, **metadata: Any) -> Answer:
        return await self._send(
            "POST", "/login/register", json={"client_name": "desk", "redirect_uris": [BACK], **metadata}
        )

    async def _send(self, method: str, path: str, **options: Any) -> Answer:
        async with self._session.request(method, self.url + path, allow_redirects=False, **options) as answer:
            cookies = "\n".join(answer.headers.getall("Set-Cookie", ()))
            return Answer(answer.status, dict(answer.headers), await answer.text(), cookies)

    async def client(self, **metadata: Any) -> str:
        return str((await self.register(**metadata)).json["client_id"])

    async def question(self, client: str, **changes: str) -> tuple[dict[str, str], str, str]:
        """Return the form of the consent page, the cookie of its browser, and the page."""
        page = await self.get(self.page(client, **changes))
        assert page.status == 200, page
        form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
        return form, page.cookies.partition(";")[0], page.text

    def page(self, client: str, **changes: str) -> str:
        """Return the path of the authorization endpoint with the parameters of a client; "" removes a parameter."""
        query = {
            "response_type": "code",
            "client_id": client,
            "redirect_uri": BACK,
            "state": "state-of-client",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": self.resource,
            **changes,
        }
        return f"/login/authorize?{urlencode({name: text for name, text in query.items() if text}, safe='&=')}"

    async def log_in(self, client: str, /, **changes: str) -> dict[str, str]:
        """Let a person log in, and return the parameters of the response to the client."""
        async with Person() as person:
            end = await person.open(self.url + self.page(client, **changes), until=BACK)
        assert end.startswith(BACK), person.shown
        return dict(parse_qsl(urlsplit(end).query))

    async def redeem(self, client: str, code: str, /, **changes: str) -> Answer:
        form = {"grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": BACK}
        return await self.post("/login/token", {**form, "code_verifier": VERIFIER, **changes})

    async def refresh(self, client: str, token: str, /, **changes: str) -> Answer:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client}
        return await self.post("/login/token", {**form, **changes})

    async def tokens(self, client: str, **changes: str) -> dict[str, Any]:
        answer = await self.redeem(client, (await self.log_in(client, **changes))["code"])
        assert answer.status == 200, answer
        return dict(answer.json)

    async def status(self, token: str) -> int:
        fields = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        return (await self._send("POST", "/mcp", json=opening(), headers=fields)).status


class Front(Desk):
    """The host, with a client program of its own: `async with Front(provider.url) as front`.

    Args:
        issuer: the identity provider.
        provider: more settings of `[plugins.login.provider]`.
        port: the port; None for a free one.
        proxies: the trusted proxies.
        settings: more settings of `[plugins.login]`.
    """

    def __init__(
        self,
        issuer: str,
        provider: dict[str, Any] | None = None,
        port: int | None = None,
        proxies: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        self.port = port or free_port()
        super().__init__(f"http://127.0.0.1:{self.port}")
        login = {
            "resource": self.resource,
            "provider": {"issuer": issuer, "client_id": "host", "client_secret": "secret-canary", **(provider or {})},
            "scopes": ["work", "other"],
            "challenge_scopes": ["work"],
            "everyone": not any(name.startswith("allowed") for name in settings),
            "keys": [KEY],
            **settings,
        }
        host = {"autoload": False, "transports": ["http"], "secret_stores": []}
        self.host = Host(
            {"host": host, "plugins": {"http": {"port": self.port, "trusted_proxies": proxies}, "login": login}},
            toolkits={"t": kit()},
        )

    async def __aenter__(self) -> Self:
        self._listening = listening(self.host)
        await self._listening.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await super().__aexit__()
        await self._listening.__aexit__(None, None, None)
