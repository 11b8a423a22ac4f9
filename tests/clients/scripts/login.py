"""The official SDK's client at a guarded endpoint: it discovers the login, a person logs in, and it calls a tool.

python login.py URL TOOL [MODE] [asks] prints the tool's text, the errors before it, the last pages of further logins,
and the HTTP exchanges on the way, as JSON. MODE is that of the second line. With `asks`, the client lets the server ask
the person to open pages. Otherwise the person opens the link in an error, and the client calls again.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import mcp  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.auth import OAuthClientProvider  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.shared.auth import OAuthClientMetadata  # type: ignore[import-not-found]  # of the client's environment

FIRST_LINE = version("mcp").startswith("1.")
if FIRST_LINE:
    import httpx as library
else:
    import httpx2 as library  # type: ignore[no-redef]
    from mcp.client.auth import AuthorizationCodeResult

BACK = "http://127.0.0.1:1/callback"
"""The redirect URI, where no server listens."""


class Storage(SimpleNamespace):
    """Tokens and client registration, in memory."""

    async def get_tokens(self) -> Any:
        return getattr(self, "tokens", None)

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return getattr(self, "client", None)

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Person:
    """A person who logs in and agrees, in a browser without a screen."""

    def __init__(self) -> None:
        self.back = ""
        self.pages: list[str] = []

    async def answer(self, context: Any, params: Any) -> Any:
        """Open the page that the server asks for."""
        await self.go(params.url)
        return mcp.types.ElicitResult(action="accept")

    async def go(self, url: str) -> None:
        """Open a page and submit forms, until the client is called back or a page has no form."""
        async with library.AsyncClient() as browser:
            answer = await browser.get(url)
            while True:
                if answer.is_redirect:
                    url = urljoin(str(answer.url), answer.headers["location"])
                    if url.startswith(BACK):
                        self.back = url
                        return
                    answer = await browser.get(url)
                    continue
                action = re.search(r'<form[^>]* action="([^"]+)"', answer.text)
                if action is None:
                    self.pages.append(answer.text)
                    return
                fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', answer.text))
                said = {**fields, "login": "ann", "password": "any"}
                answer = await browser.post(urljoin(str(answer.url), action[1]), data=said)

    async def code(self) -> Any:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.back).query).items()}
        if FIRST_LINE:
            return query["code"], query.get("state")
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


@asynccontextmanager
async def connected(url: str, http: Any, mode: str, **more: Any) -> AsyncIterator[Any]:
    transport = streamable_http_client(url, http_client=http)
    if FIRST_LINE:
        async with transport as (reading, writing, _), mcp.ClientSession(reading, writing, **more) as session:
            await session.initialize()
            yield session
    else:
        async with mcp.Client(transport, mode=mode, **more) as client:
            yield client


async def log_in(url: str, tool: str, mode: str = "auto", asks: str = "silent") -> None:
    person, asked, errors = Person(), [], []
    metadata = OAuthClientMetadata(
        client_name="desk",
        redirect_uris=[BACK],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )

    async def note(response: Any) -> None:
        asked.append(f"{response.request.method} {response.request.url.path} {response.status_code}")

    auth = OAuthClientProvider(
        server_url=url,
        client_metadata=metadata,
        storage=Storage(),
        redirect_handler=person.go,
        callback_handler=person.code,
    )
    http = library.AsyncClient(auth=auth, event_hooks={"response": [note]})
    more = {"elicitation_callback": person.answer} if asks == "asks" else {}
    async with http, connected(url, http, mode, **more) as client:
        result = await client.call_tool(tool, {})
        if link := re.search(r"http://\S+/vault/login\?id=[\w.-]+", result.content[0].text):
            errors.append(result.content[0].text)
            await person.go(link[0])
            result = await client.call_tool(tool, {})
    print(json.dumps({"text": result.content[0].text, "errors": errors, "pages": person.pages, "asked": asked}))


warnings.simplefilter("ignore")
asyncio.run(log_in(*sys.argv[1:]))
