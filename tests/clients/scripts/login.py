"""The official SDK's client at a guarded endpoint: it finds where to log in, a person does, a tool is called.

python login_1.py URL TOOL, python login_2.py URL TOOL: prints what the tool said, and what was asked for over HTTP on
the way, as JSON. This is what both have in common.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from mcp.client.auth import OAuthClientProvider  # type: ignore[import-not-found]  # of the client's environment
from mcp.shared.auth import OAuthClientMetadata  # type: ignore[import-not-found]  # of the client's environment

Answered = Callable[[dict[str, str]], Any]
Connected = Callable[[str, Any], AbstractAsyncContextManager[Any]]

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

    def __init__(self, library: Any) -> None:
        self.library = library
        self.back = ""

    async def go(self, url: str) -> None:
        async with self.library.AsyncClient() as browser:
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


async def log_in(url: str, tool: str, library: Any, answered: Answered, connected: Connected) -> None:
    """Log in, and call a tool.

    Args:
        url: the endpoint.
        tool: its name.
        library: the SDK's HTTP library.
        answered: makes what the SDK takes of the query with which the browser is sent back.
        connected: a client of the SDK at a URL, over an HTTP client.
    """
    person, asked = Person(library), []
    metadata = OAuthClientMetadata(
        client_name="desk",
        redirect_uris=[BACK],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )

    async def returned() -> Any:
        query = {name: values[0] for name, values in parse_qs(urlsplit(person.back).query).items()}
        return answered(query)

    async def note(response: Any) -> None:
        asked.append(f"{response.request.method} {response.request.url.path} {response.status_code}")

    auth = OAuthClientProvider(
        server_url=url,
        client_metadata=metadata,
        storage=Storage(),
        redirect_handler=person.go,
        callback_handler=returned,
    )
    http = library.AsyncClient(auth=auth, event_hooks={"response": [note]})
    async with http, connected(url, http) as client:
        result = await client.call_tool(tool, {})
    print(json.dumps({"text": result.content[0].text, "asked": asked}))


def main(library: Any, answered: Answered, connected: Connected) -> None:
    """What both scripts are."""
    warnings.simplefilter("ignore")
    url, tool = sys.argv[1:]
    asyncio.run(log_in(url, tool, library, answered, connected))
