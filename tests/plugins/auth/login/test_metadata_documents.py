"""Client id metadata documents: clients with a web address, and requests to addresses that strangers choose."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard_client import Client, Endpoint, OAuth
from pegboard_plugins.auth.login import login_clients
from pegboard_plugins.auth.login.login_clients import ClientRefusedError, LoginClients
from pegboard_plugins.auth.login.login_signing import LoginSigner
from pegboard_plugins.auth.login.settings import LoginConfig
from tests.plugins.auth.login.front import KEY, Front
from tests.support.documents import Documents
from tests.support.person import Person

URL = "https://desk.example/.well-known/client.json"
PEER = "192.0.2.1"
DOCUMENT = {
    "client_id": URL,
    "client_name": "Desk",
    "redirect_uris": ["http://127.0.0.1/callback", "https://desk.example/cb"],
}


def clients(exchange: Documents | None, **settings: Any) -> LoginClients:
    provider = {"issuer": "https://login.example.com", "client_id": "host"}
    fields = {"resource": "https://tools.example.com/mcp", "provider": provider, "everyone": True, "keys": [KEY]}
    config = LoginConfig.model_validate({**fields, **settings})
    return LoginClients(config, LoginSigner(config), exchange)


async def test_a_client_with_a_document_logs_in(front: Front, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        login_clients, "AiohttpExchange", lambda public_only: Documents(DOCUMENT) if public_only else None
    )
    page = await front.get(front.page(URL, redirect_uri="https://desk.example/cb"))
    assert f"its web address, {URL}" in page.text
    page = await front.get(front.page(URL, redirect_uri="http://127.0.0.1:9/callback"))
    assert f"none: it claims to be {URL}" in page.text
    auth = OAuth(person.open, client_metadata_url=URL)
    async with Client(Endpoint(front.resource, auth=auth)) as client:
        assert (await client.call("guarded", {}))["content"][0]["text"] == "done"


async def test_a_document_is_kept_for_a_while() -> None:
    documents = Documents(DOCUMENT)
    known = clients(documents)
    assert await known.find(URL, PEER) == await known.find(URL, PEER)
    assert documents.asked == [URL]


async def test_slow_documents_of_one_peer_do_not_stop_others() -> None:
    documents = Documents(DOCUMENT)
    known = clients(documents)
    async with asyncio.TaskGroup() as group:
        slow = [group.create_task(known.find(f"https://slow.example/{number}", PEER)) for number in range(30)]
        await documents.is_slow.wait()
        assert (await known.find(URL, "192.0.2.2")).name == "Desk"
        for task in slow:
            task.cancel()


@pytest.mark.requirement("AUTH-14")
@pytest.mark.parametrize(
    ("url", "changes", "status"),
    [
        (URL, {"client_id": "https://other.example/client.json"}, 200),
        (URL, {"client_id": None}, 200),
        (URL, {"client_name": ""}, 200),
        (URL, {"token_endpoint_auth_method": "private_key_jwt"}, 200),
        (URL, {"redirect_uris": ["http://evil.example/cb"]}, 200),
        (URL, {}, 404),
        (URL, {}, 302),
        ("https://desk.example/", {}, 200),
        ("https://desk.example", {}, 200),
        (f"{URL}?x=1", {}, 200),
        (f"{URL}#x", {}, 200),
        ("https://user@desk.example/client.json", {}, 200),
        ("https://desk.example/a/../client.json", {}, 200),
        ("http://desk.example/client.json", {}, 200),
    ],
)
async def test_client_impersonation(url: str, changes: dict[str, Any], status: int) -> None:
    with pytest.raises(ClientRefusedError):
        await clients(Documents({**DOCUMENT, "client_id": url, **changes}, status)).find(url, PEER)


async def test_documents_can_be_turned_off() -> None:
    documents = Documents(DOCUMENT)
    with pytest.raises(ClientRefusedError, match="not registered"):
        await clients(documents, client_metadata_documents=False).find(URL, PEER)
    assert documents.asked == []


@pytest.mark.requirement("AUTH-15")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433"])
async def test_ssrf(host: str) -> None:
    """No connection is made to an address that is not public, by whichever name."""
    connected = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        with pytest.raises(ClientRefusedError, match="cannot be fetched"):
            await clients(None).find(f"https://{host}:{server.sockets[0].getsockname()[1]}/client.json", PEER)
        await asyncio.sleep(0)
        assert not connected.is_set()
