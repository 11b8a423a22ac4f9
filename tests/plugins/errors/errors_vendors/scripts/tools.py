"""A program: tools on vendors' real clients, in an installed host with its defaults; a call a line, a reply a line."""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from typing import Any

from pegboard import Host, Toolkit, ToolkitError
from pegboard.types import Call, Failure

CANARY = "canary-5d0c"
LIBRARIES = ("slack_sdk", "googleapiclient", "google.auth", "kiota_abstractions", "msgraph", "gql", "requests", "httpx")
MAX_SECONDS = 10.0

kit = Toolkit("t", prefix=False)


@kit.tool
def run(name: str, arguments: dict[str, Any]) -> Any:
    """Call a function."""
    return globals()[name](**arguments)


@kit.tool
async def run_async(name: str, arguments: dict[str, Any]) -> Any:
    """Call an asynchronous function."""
    return await globals()[name](**arguments)


def plain(loads: str = "") -> None:
    if loads:
        __import__(loads)
    raise ValueError(CANARY)


# --- Slack


def slack(url: str, timeout: int = 10) -> str:
    from slack_sdk import WebClient

    client = WebClient(CANARY, base_url=f"{url}/", timeout=timeout)
    return str(client.chat_postMessage(channel="C1", text=CANARY).data)


async def slack_async(url: str) -> str:
    from slack_sdk.web.async_client import AsyncWebClient

    client = AsyncWebClient(CANARY, base_url=f"{url}/")
    return str((await client.chat_postMessage(channel="C1", text=CANARY)).data)


def slack_rotate(url: str) -> None:
    from slack_sdk import WebClient
    from slack_sdk.oauth.installation_store import Installation
    from slack_sdk.oauth.token_rotation import TokenRotator

    rotator = TokenRotator(client_id="1", client_secret=CANARY, client=WebClient(base_url=f"{url}/"))
    installation = Installation(user_id="U1", bot_token=CANARY, bot_refresh_token=CANARY, bot_token_expires_at=1)
    rotator.perform_token_rotation(installation=installation)


def slack_refuses(how: str) -> None:
    from slack_sdk import WebClient
    from slack_sdk.errors import BotUserAccessError, SlackClientError

    if how == "request":
        WebClient(CANARY).conversations_open()
    raise (BotUserAccessError if how == "bot" else SlackClientError)(CANARY)


# --- Google


def drive(url: str, http: Any = None) -> Any:
    import httplib2
    from googleapiclient.discovery import build

    http = http or httplib2.Http(timeout=MAX_SECONDS)
    return build("drive", "v3", http=http, developerKey=CANARY, client_options={"api_endpoint": url})


def google(url: str, timeout: float = MAX_SECONDS) -> Any:
    import httplib2

    return drive(url, httplib2.Http(timeout=timeout)).files().get(fileId="f1").execute()


def google_credentials(url: str) -> Any:
    import httplib2
    from google.oauth2.credentials import Credentials
    from google_auth_httplib2 import AuthorizedHttp

    credentials = Credentials(None, refresh_token=CANARY, token_uri=f"{url}/token", client_id="1", client_secret=CANARY)
    http = AuthorizedHttp(credentials, httplib2.Http(timeout=MAX_SECONDS))
    return drive(url, http).files().get(fileId="f1").execute()


# --- Microsoft


def request_adapter(url: str) -> Any:
    from kiota_abstractions.authentication import AnonymousAuthenticationProvider
    from kiota_http.middleware.options import RetryHandlerOption
    from msgraph import GraphRequestAdapter
    from msgraph_core import GraphClientFactory

    options = {RetryHandlerOption.get_key(): RetryHandlerOption(max_retries=0)}
    client = GraphClientFactory.create_with_default_middleware(options=options)
    adapter = GraphRequestAdapter(AnonymousAuthenticationProvider(), client)
    adapter.base_url = url
    return adapter


async def graph(url: str) -> Any:
    from msgraph import GraphServiceClient

    return await GraphServiceClient(request_adapter=request_adapter(url)).users.by_user_id("u1").get()


# --- GraphQL

QUERY = "{ viewer { login } }"
SENT = {"Authorization": CANARY}


def gql_requests(url: str, timeout: float = MAX_SECONDS) -> Any:
    from gql import Client, gql
    from gql.transport.requests import RequestsHTTPTransport

    transport = RequestsHTTPTransport(url=f"{url}?token={CANARY}", headers=SENT, timeout=timeout)
    return Client(transport=transport).execute(gql(QUERY))


async def gql_aiohttp(url: str, timeout: float = MAX_SECONDS) -> Any:  # noqa: ASYNC109 - as the other clients have it
    import aiohttp
    from gql import Client, gql
    from gql.transport.aiohttp import AIOHTTPTransport

    session = {"timeout": aiohttp.ClientTimeout(sock_read=timeout)}
    transport = AIOHTTPTransport(url=f"{url}?token={CANARY}", headers=SENT, client_session_args=session)
    async with Client(transport=transport) as client:
        return await client.execute(gql(QUERY))


def gql_httpx(url: str, timeout: float = MAX_SECONDS) -> Any:
    from gql import Client, gql
    from gql.transport.httpx import HTTPXTransport

    transport = HTTPXTransport(url=f"{url}?token={CANARY}", headers=SENT, timeout=timeout)
    return Client(transport=transport).execute(gql(QUERY))


# --- the program


def failure_object(failure: Failure) -> dict[str, Any]:
    error = failure.error
    assert isinstance(error, ToolkitError)
    cause = type(error.__cause__)
    return {
        **error.to_payload(),
        "type": type(error).__name__,
        "cause": f"{cause.__module__}.{cause.__qualname__}",
        "loaded": [name for name in LIBRARIES if name in sys.modules],
        "explained": sorted(
            name for name in sys.modules if name.endswith("_errors") and name.startswith("pegboard_plugins.errors.")
        ),
    }


async def main() -> None:
    async with Host({"host": {"autoload": False, "transports": []}}, toolkits={"t": kit}) as host:
        print(json.dumps([adapter.slug for adapter in host.assembly.adapters]), flush=True)
        for line in sys.stdin:
            call = json.loads(line)
            tool = "run_async" if inspect.iscoroutinefunction(globals()[call["name"]]) else "run"
            outcome: Any = await host.dispatch(Call("tools/call", {"name": tool, "arguments": call}))
            print(json.dumps(failure_object(outcome) if isinstance(outcome, Failure) else str(outcome)), flush=True)


asyncio.run(main())
