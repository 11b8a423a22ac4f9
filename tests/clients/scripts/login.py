"""The official SDK's client at a guarded endpoint: it finds where to log in, a person does, a tool is called.

python login.py URL TOOL    prints what the tool said, and what was asked for over HTTP on the way, as JSON
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import warnings
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import mcp  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.shared.auth import OAuthClientMetadata  # type: ignore[import-not-found]  # of the client's environment

BACK = "http://127.0.0.1:1/callback"
"""Where the browser would be sent back to; nobody listens there, and nobody goes."""


class Storage:
    """Keeps what the client has, while it runs."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Person:
    """Logs in and agrees, in a browser without a screen."""

    def __init__(self) -> None:
        self.back = ""

    async def go(self, url: str) -> None:
        async with httpx2.AsyncClient() as browser:
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
                assert action, answer.text
                fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', answer.text))
                said = {**fields, "login": "ann", "password": "any"}
                answer = await browser.post(urljoin(str(answer.url), action[1]), data=said)


async def main(url: str, tool: str) -> None:
    person, asked, storage = Person(), [], Storage()
    metadata = OAuthClientMetadata(
        client_name="desk",
        redirect_uris=[BACK],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )

    async def returned() -> Any:
        query = {name: values[0] for name, values in parse_qs(urlsplit(person.back).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    async def note(response: httpx2.Response) -> None:
        asked.append(f"{response.request.method} {response.request.url.path} {response.status_code}")

    auth = OAuthClientProvider(
        server_url=url,
        client_metadata=metadata,
        storage=storage,
        redirect_handler=person.go,
        callback_handler=returned,
    )
    async with (
        httpx2.AsyncClient(auth=auth, event_hooks={"response": [note]}) as http,
        mcp.Client(streamable_http_client(url, http_client=http)) as client,
    ):
        result = await client.call_tool(tool, {})
    print(json.dumps({"text": result.content[0].text, "asked": asked}))


warnings.simplefilter("ignore")
asyncio.run(main(*sys.argv[1:]))
