"""A program: tools on vendors' real clients, in an installed host with its defaults; a call a line, its failure a line.

It runs in an environment with all libraries, and in one with none, where only `plain` can be called. The tools
call functions of this module, which handle no failure.
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from pathlib import Path
from typing import Any

from pegboard import Host, Toolkit
from pegboard.plugin import ToolkitError
from pegboard.types import Call, Failure

CANARY = "canary-5d0c"
LIBRARIES = ("slack_sdk", "googleapiclient", "google.auth", "kiota_abstractions", "msgraph", "gql", "requests", "httpx")
PATIENCE = 10.0

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


async def slack_async(url: str, timeout: int = 10) -> str:  # noqa: ASYNC109 - what the library calls it
    from slack_sdk.web.async_client import AsyncWebClient

    client = AsyncWebClient(CANARY, base_url=f"{url}/", timeout=timeout)
    return str((await client.chat_postMessage(channel="C1", text=CANARY)).data)


def slack_rotate(url: str) -> None:
    from slack_sdk import WebClient
    from slack_sdk.oauth.installation_store import Installation
    from slack_sdk.oauth.token_rotation import TokenRotator

    rotator = TokenRotator(client_id="1", client_secret=CANARY, client=WebClient(base_url=f"{url}/"))
    installation = Installation(user_id="U1", bot_token=CANARY, bot_refresh_token=CANARY, bot_token_expires_at=1)
    rotator.perform_token_rotation(installation=installation)


def slack_refuses(what: str) -> None:
    from slack_sdk import WebClient
    from slack_sdk.errors import BotUserAccessError, SlackClientError
    from slack_sdk.models.blocks import ImageBlock
    from slack_sdk.socket_mode.builtin.connection import Connection

    if what in ("bot", "other"):  # for tools that check by themselves: the client raises neither any more
        raise (BotUserAccessError if what == "bot" else SlackClientError)(CANARY)
    if what == "request":
        WebClient(CANARY).conversations_open()
    if what == "object":
        ImageBlock(image_url=CANARY, alt_text="x" * 3000).to_dict()
    logger: Any = None
    size = 1 if what == "configuration" else 1024
    connection = Connection("ws://localhost", logger, receive_buffer_size=size)
    connection.send(CANARY)


# --- Google


def drive(url: str, http: Any = None) -> Any:
    import httplib2
    from googleapiclient.discovery import build

    http = http or httplib2.Http(timeout=PATIENCE)
    return build("drive", "v3", http=http, developerKey=CANARY, client_options={"api_endpoint": url})


def google(url: str, timeout: float = PATIENCE) -> Any:
    import httplib2

    return drive(url, httplib2.Http(timeout=timeout)).files().get(fileId="f1").execute()


def google_credentials(url: str) -> Any:
    import httplib2
    from google.oauth2.credentials import Credentials
    from google_auth_httplib2 import AuthorizedHttp

    credentials = Credentials(None, refresh_token=CANARY, token_uri=f"{url}/token", client_id="1", client_secret=CANARY)
    return drive(url, AuthorizedHttp(credentials, httplib2.Http(timeout=PATIENCE))).files().get(fileId="f1").execute()


def google_batch(url: str) -> None:
    from googleapiclient.http import BatchHttpRequest

    batch = BatchHttpRequest(batch_uri=f"{url}/batch?key={CANARY}")
    batch.add(drive(url).files().get(fileId="f1"))
    batch.execute()


def google_refuses(what: str, url: str = "http://127.0.0.1") -> None:
    import httplib2
    from googleapiclient.channel import Channel, notification_from_headers
    from googleapiclient.discovery import build
    from googleapiclient.http import BatchHttpRequest, MediaInMemoryUpload, MediaUpload

    class Large(MediaUpload):  # type: ignore[misc]  # the library is not here
        def size(self) -> int:
            return 10**12

        def mimetype(self) -> str:
            return "message/rfc822"

    http = httplib2.Http(timeout=PATIENCE)
    if what == "unknown API":
        build(CANARY, "v1", http=http)
    if what == "unreadable description":
        build("drive", "v3", http=http, discoveryServiceUrl=f"{url}/discovery", static_discovery=False)
    if what == "chunks":
        MediaInMemoryUpload(b"", chunksize=-2)
    if what == "notification":
        notification_from_headers(Channel("web_hook", "1", CANARY, "x"), {"X-Goog-Channel-ID": CANARY})
    drafts = build("gmail", "v1", http=http).users().drafts()
    if what == "size":
        drafts.create(userId="me", body={}, media_body=Large())
    if what in ("picture.png", "something"):
        Path(what).write_bytes(b"")
        drafts.create(userId="me", body={}, media_body=what)
    if what == "batch":
        media = MediaInMemoryUpload(b"", mimetype="message/rfc822", resumable=True)
        BatchHttpRequest().add(drafts.create(userId="me", body={}, media_body=media))


# --- Microsoft


def request_adapter(url: str, retries: int = 0) -> Any:
    from kiota_abstractions.authentication import AnonymousAuthenticationProvider
    from kiota_http.middleware.options import RetryHandlerOption
    from msgraph import GraphRequestAdapter
    from msgraph_core import GraphClientFactory

    options = {RetryHandlerOption.get_key(): RetryHandlerOption(max_retries=retries)}
    client = GraphClientFactory.create_with_default_middleware(options=options)
    adapter = GraphRequestAdapter(AnonymousAuthenticationProvider(), client)
    adapter.base_url = url
    return adapter


async def graph(url: str) -> Any:
    from msgraph import GraphServiceClient

    return await GraphServiceClient(request_adapter=request_adapter(url)).users.by_user_id("u1").get()


async def kiota(url: str) -> None:
    from kiota_abstractions.method import Method
    from kiota_abstractions.request_information import RequestInformation

    request = RequestInformation(Method.GET, "{+baseurl}/users/u1", {})
    request.headers.add("Authorization", CANARY)
    await request_adapter(url).send_no_response_content_async(request, None)


async def kiota_refuses(what: str) -> None:
    from kiota_abstractions.api_error import APIError
    from kiota_abstractions.request_information import RequestInformation
    from kiota_authentication_azure.azure_identity_access_token_provider import AzureIdentityAccessTokenProvider
    from kiota_http._exceptions import DeserializationError, ResponseError

    if what == "scheme":
        credentials: Any = object()
        await AzureIdentityAccessTokenProvider(credentials, {}).get_authorization_token(f"http://{CANARY}.example")
    raised = {"no status": APIError(CANARY), "no answer": ResponseError(CANARY), "model": DeserializationError(CANARY)}
    if what in raised:
        raise raised[what]
    request = RequestInformation(None, "{+baseurl}/users/u1", {})
    await request_adapter("http://127.0.0.1").send_no_response_content_async(request, None)


# --- GraphQL

QUERY = "{ viewer { login } }"
SENT = {"Authorization": CANARY}


def gql_requests(url: str, timeout: float = PATIENCE) -> Any:
    from gql import Client, gql
    from gql.transport.requests import RequestsHTTPTransport

    transport = RequestsHTTPTransport(url=f"{url}?token={CANARY}", headers=SENT, timeout=timeout)
    return Client(transport=transport).execute(gql(QUERY))


async def gql_aiohttp(url: str, timeout: float = PATIENCE) -> Any:  # noqa: ASYNC109 - as above
    import aiohttp
    from gql import Client, gql
    from gql.transport.aiohttp import AIOHTTPTransport

    session = {"timeout": aiohttp.ClientTimeout(sock_read=timeout)}
    transport = AIOHTTPTransport(url=f"{url}?token={CANARY}", headers=SENT, client_session_args=session)
    async with Client(transport=transport) as client:
        return await client.execute(gql(QUERY))


def gql_httpx(url: str, timeout: float = PATIENCE) -> Any:
    from gql import Client, gql
    from gql.transport.httpx import HTTPXTransport

    transport = HTTPXTransport(url=f"{url}?token={CANARY}", headers=SENT, timeout=timeout)
    return Client(transport=transport).execute(gql(QUERY))


def gql_closed(url: str) -> Any:
    from gql import gql
    from gql.transport.requests import RequestsHTTPTransport

    return RequestsHTTPTransport(url=url).execute(gql(QUERY))


# --- the contract of adapters


def contract(tool: str, slug: str, gives: str, url: str) -> dict[str, str]:
    import pegboard
    from pegboard.testing import ErrorAdapterContract

    given = caught(tool, url)
    adapter = next(one for one in running[0].assembly.adapters if one.slug == slug)

    class Held(ErrorAdapterContract):
        canary = CANARY
        libraries = LIBRARIES

        def make(self) -> Any:
            return type(adapter)()

        def examples(self) -> Any:
            return [(given, getattr(pegboard, gives))]

    return {name: f"{type(error).__name__}: {error}" for name, error in Held.broken().items()}


def caught(tool: str, url: str) -> Exception:
    """What a tool raises, without a host."""
    try:
        given = globals()[tool](url=url)
        if asyncio.iscoroutine(given):
            asyncio.run(given)
    except Exception as error:  # noqa: BLE001 - each library has its own
        return error
    raise AssertionError(f"{tool} raised nothing")


# --- the program

running: list[Host] = []


def told(failure: Failure) -> dict[str, Any]:
    """A failure, as JSON has it."""
    error = failure.error
    assert isinstance(error, ToolkitError)
    cause = type(error.__cause__)
    return {
        **error.to_payload(),
        "type": type(error).__name__,
        "cause": f"{cause.__module__}.{cause.__qualname__}",
        "cause_text": str(error.__cause__),
        "loaded": [name for name in LIBRARIES if name in sys.modules],
        "explained": sorted(
            name for name in sys.modules if name.endswith("_errors") and "pegboard_plugins.errors_" in name
        ),
    }


async def main() -> None:
    async with Host({"host": {"autoload": False, "transports": []}}, toolkits={"t": kit}) as host:
        running.append(host)
        print(json.dumps([adapter.slug for adapter in host.assembly.adapters]), flush=True)
        for line in sys.stdin:
            call = json.loads(line)
            tool = "run_async" if inspect.iscoroutinefunction(globals()[call["name"]]) else "run"
            outcome = await host.dispatch(Call("tools/call", {"name": tool, "arguments": call}))
            said = (
                told(outcome) if isinstance(outcome, Failure) else {"outcome": getattr(outcome, "value", str(outcome))}
            )
            print(json.dumps(said), flush=True)


asyncio.run(main())
