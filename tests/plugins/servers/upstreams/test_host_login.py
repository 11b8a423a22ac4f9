"""Mounted servers at which the operator logs in: real processes, and a scripted authorization server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pegboard.plugin import LoginStore
from pegboard_client import Client, Program
from pegboard_plugins.auth.vault.login_flows import login_flows
from pegboard_plugins.auth.vault.server_logins import ServerLogins
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.servers.upstreams.host_login import oauth
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from tests.host.hosting import WAIT
from tests.plugins.auth.vault.test_commands import pegboard
from tests.plugins.servers.upstreams.mounts import guarded_peer, names, scripted, toml, tools
from tests.support.http import Served, http_config
from tests.support.http_mcp import call, message, modern, post
from tests.support.login_server import Browser, LoginServer, pasted
from tests.support.person import Person
from tests.support.wire import PEGBOARD

VAULT = "[plugins.vault]\n"
BARE = "[host]\nautoload = false\n"


def configure(folder: Path, server: LoginServer, more: str = "", *, sections: str = VAULT) -> None:
    text = f'{BARE}{sections}[plugins.upstreams.servers.cups]\nurl = "{server.url}"\n{more}\n'
    (folder / "hostconfig.toml").write_text(text, "utf-8")


@pytest.mark.needs("tool_commands")
async def test_an_operator_logs_in_and_calls(tmp_path: Path, server: LoginServer, person: Person) -> None:
    server.tokens = [(200, {"access_token": "token-1", "refresh_token": "refresh-canary", "expires_in": 3600})]
    configure(tmp_path, server)
    before = await pegboard(tmp_path, "upstreams")
    assert before[0] == 1
    assert "requires a login that allows work; run `pegboard login --server cups`, or set headers" in before[1]
    login = await pegboard(tmp_path, "login", "--server", "cups", person=person)
    assert login[:2] == (0, f"You are logged in at cups, by {server.issuer}.\n"), login
    state = await pegboard(tmp_path, "upstreams")
    call = await pegboard(tmp_path, "call", "cups_cup")
    assert state[0] == 0, state
    assert f"login: the operator, at {server.issuer}, until " in state[1]
    assert call[:2] == (0, "full\n"), call
    assert "token-1" not in str((before, login, state, call))
    assert "canary" not in str((before, login, state, call))


async def test_a_forgotten_registration_is_made_again_once(tmp_path: Path, server: LoginServer, person: Person) -> None:
    """The renewal shows it before the page opens, and the exchange of the code shows it without a refresh token."""
    gone = (401, {"error": "invalid_client"})
    configure(tmp_path, server)
    server.tokens = [(200, {"access_token": "token-1", "refresh_token": "refresh"}), gone]
    for accepted in ("token-1", "token-3"):
        server.accepted = accepted
        assert (await pegboard(tmp_path, "login", "--server", "cups", person=person))[0] == 0
    assert [len(server.registered), len(server.pages)] == [2, 2]
    server.tokens = [gone]
    server.accepted = "token-5"
    errors = await pegboard(tmp_path, "login", "--server", "cups", person=person, pages=2)
    assert (errors[0], len(server.registered), len(server.pages)) == (0, 3, 4), errors


@pytest.mark.parametrize(
    ("change", "problem", "opens"),
    [
        ({"registration_endpoint": ""}, "Set client_id, issuer and perhaps client_secret in [plugins.upstreams", False),
        ({"authorization_response_iss_parameter_supported": True}, "the response lacks `iss`", True),
    ],
    ids=["before the page", "after it"],
)
async def test_a_login_that_is_not_safe_ends_with_its_reason(
    tmp_path: Path, server: LoginServer, person: Person, change: dict[str, Any], problem: str, opens: bool
) -> None:
    server.metadata |= change
    configure(tmp_path, server)
    code, out, errors = await pegboard(tmp_path, "login", "--server", "cups", person=person if opens else None)
    assert (code, out) == (1, "")
    assert problem in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("sections", "more", "name", "problem"),
    [
        ("", "", "cups", "enables the plugin that adds it"),
        (VAULT, "", "mugs", "add [plugins.upstreams.servers.mugs] with its url; mounted servers: cups"),
        (VAULT, 'identity = "user"\nauth = "acme"', "cups", "the host needs no login at 'cups'"),
        (VAULT, 'client_id = "by-hand"', "cups", "client_id requires issuer"),
        (VAULT, 'client_id = "by-hand"\nissuer = "https://other.example.com"', "cups", "registered at https://other"),
    ],
)
async def test_a_login_that_the_settings_exclude(
    tmp_path: Path, server: LoginServer, sections: str, more: str, name: str, problem: str
) -> None:
    configure(tmp_path, server, more, sections=sections)
    code, _, errors = await pegboard(tmp_path, "login", "--server", name)
    assert code != 0
    assert problem in errors
    assert not server.pages


def stdio(folder: Path, on_notification: Any = None) -> Client:
    """Return a client of a host process with the configuration in a folder."""
    state = {"PEGBOARD_STATE_DIR": os.environ["PEGBOARD_STATE_DIR"]}
    program = Program(str(PEGBOARD), ["stdio", "--config", str(folder / "hostconfig.toml")], env=state)
    return Client(program, on_notification=on_notification)


async def logged_in(folder: Path, server: LoginServer, person: Person, **token: Any) -> None:
    """Log in, and receive "token-1" and a refresh token."""
    server.tokens = [(200, {"access_token": "token-1", "refresh_token": "refresh-1", "expires_in": 3600, **token})]
    configure(folder, server)
    login = await pegboard(folder, "login", "--server", "cups", person=person)
    assert login[0] == 0, login


async def answered(client: Client) -> str:
    result = await client.call("cups_cup", {})
    return str(result["content"][0]["text"])


async def test_a_running_host_uses_a_new_login(tmp_path: Path, server: LoginServer, person: Person) -> None:
    changed = asyncio.Event()
    configure(tmp_path, server, toml("pens", scripted(tmp_path, tools("draw"))))
    async with stdio(tmp_path, lambda *_: changed.set()) as client:
        await client.listen()
        assert await names(client) == ["pens_draw"]
        assert "run `pegboard login --server cups`" in await answered(client)
        login = await pegboard(tmp_path, "login", "--server", "cups", person=person)
        assert login[0] == 0, login
        async with asyncio.timeout(WAIT):
            while "cups_cup" not in await names(client):
                changed.clear()
                await changed.wait()
        assert await answered(client) == "full"


async def test_the_vault_lets_one_of_its_users_renew_a_token(server: LoginServer) -> None:
    """Two users as two processes would be: they share the file and its lock, but no object."""
    config = ServerConfig(url=server.url)
    server.tokens = [(200, {"refresh_token": "refresh-1", "expires_in": 0})]
    await oauth(config, vault_logins(), Browser()).log_in(server.url, {})
    server.tokens = [(200, {"refresh_token": "refresh-2", "expires_in": 3600})]
    users = [oauth(config, vault_logins(), None) for _ in range(3)]
    fields = await asyncio.gather(*(user.headers(server.url) for user in users))
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]
    assert fields == [{"Authorization": "Bearer token-2"}] * 3


def vault_logins() -> ServerLogins:
    return ServerLogins(login_flows(VaultConfig()))


async def test_a_lost_token_and_scope_name_the_command(tmp_path: Path, server: LoginServer, person: Person) -> None:
    await logged_in(tmp_path, server, person)
    async with stdio(tmp_path) as client:
        assert [await client.tools(), await answered(client)][1] == "full"
        server.accepted = "token-3"
        server.tokens = [(400, {"error": "invalid_grant"})]
        for _ in range(2):
            assert "run `pegboard login --server cups" in await answered(client)
        assert len(server.forms) == 2  # the second call asks for no token
        assert (await pegboard(tmp_path, "login", "--server", "cups", person=person))[0] == 0
        assert await answered(client) == "full"
        server.refusal = 'Bearer error="insufficient_scope", scope="pour"'
        assert "run `pegboard login --server cups --scopes pour`" in await answered(client)
        server.refusal = ""
        server.accepted = "token-4"
        more = await pegboard(tmp_path, "login", "--server", "cups", "--scopes", "pour", person=person)
        assert more[0] == 0, more
        assert set(server.pages[-1]["scope"].split()) == {"work", "pour"}
        assert await answered(client) == "full"


@pytest.mark.parametrize("revokes", [True, False])
async def test_a_logout_ends_the_login(tmp_path: Path, server: LoginServer, person: Person, revokes: bool) -> None:
    server.metadata |= {"revocation_endpoint": f"{server.origin}/revoke"} if revokes else {}
    await logged_in(tmp_path, server, person)
    code, out, _ = await pegboard(tmp_path, "logout", "--server", "cups")
    assert (code, "It was not revoked" in out) == (0, not revokes)
    assert [form["token"] for form in server.revoked] == ["refresh-1"] * revokes
    assert "run `pegboard login --server cups`" in (await pegboard(tmp_path, "upstreams"))[1]
    again = await pegboard(tmp_path, "logout", "--server", "cups")
    assert (again[0], "there is no login at 'cups'" in again[2]) == (1, True)


async def test_a_login_that_was_removed_is_not_renewed_and_not_saved_again(server: LoginServer) -> None:
    server.tokens = [(200, {"access_token": "token-1", "refresh_token": "refresh", "expires_in": 0})]
    store = MemoryLogins()
    ours, theirs = (oauth(ServerConfig(url=server.url), store, Browser()) for _ in range(2))
    await ours.log_in(server.url, {})
    assert await theirs.describe(server.url) is not None
    await ours.log_out(server.url)
    assert await theirs.headers(server.url) == {}
    assert store.logins == {server.url: None}


async def test_new_issuers_need_a_login_and_get_no_token(tmp_path: Path, server: LoginServer, person: Person) -> None:
    await logged_in(tmp_path, server, person)
    server.metadata_path += "/moved"
    server.metadata["issuer"] += "/moved"
    server.resource["authorization_servers"] = [server.metadata["issuer"]]
    server.accepted = "token-2"
    code, out, _ = await pegboard(tmp_path, "upstreams")
    assert code == 1
    assert f"its authorization server is {server.issuer}/moved now, and was {server.issuer}" in out
    assert len(server.forms) == 1
    server.tokens = [(400, {"error": "invalid_grant"}), (200, {"access_token": "token-2"})]
    login = await pegboard(tmp_path, "login", "--server", "cups", person=person)
    assert login[:2] == (0, f"You are logged in at cups, by {server.issuer}/moved.\n"), login
    assert len(server.registered) == 2


class MemoryLogins(LoginStore):
    def __init__(self) -> None:
        self.logins: dict[str, Mapping[str, Any] | None] = {}

    async def load(self, server: str) -> Mapping[str, Any] | None:
        return self.logins.get(server)

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        self.logins[server] = login

    def renewing(self, server: str) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    def version(self) -> object:
        return repr(self.logins)


async def test_a_person_pastes_the_address_of_the_last_page(tmp_path: Path, server: LoginServer) -> None:
    configure(tmp_path, server)
    arguments = ["login", "--server", "cups", "--no-browser", "--config", str(tmp_path / "hostconfig.toml")]
    out, errors = await pasted(*arguments)
    assert out == f"You are logged in at cups, by {server.issuer}.\n", errors
    assert "this is not the address of the last page" in errors


ALICE = '[plugins.auth_token.callers.alice]\ntoken = "alice-token-0123456789-0123456789-abc"\n'
PROOF = ("Authorization", "Bearer alice-token-0123456789-0123456789-abc")


def serving(server: LoginServer, more: str = "", sections: str = "") -> Served:
    """Return a host on HTTP with the state directory of the test."""
    mounted = f'{VAULT}[plugins.upstreams.servers.cups]\nurl = "{server.url}"\n{more}\n{sections}'
    state = os.environ["PEGBOARD_STATE_DIR"]
    return Served(Path(state), http_config(more=mounted), env={"PEGBOARD_STATE_DIR": state})


def operator_proof() -> tuple[str, str]:
    """Return the header of a request of the operator."""
    token = (Path(os.environ["PEGBOARD_STATE_DIR"]) / "operator-token").read_text().strip()
    return "Authorization", f"Bearer {token}"


@pytest.mark.parametrize("by_hand", [False, True])
async def test_the_account_of_the_operator_is_not_for_other_callers_by_mistake(
    tmp_path: Path, server: LoginServer, person: Person, by_hand: bool
) -> None:
    line = 'add identity = "user", or identity = "host" and shared = true, to [plugins.upstreams.servers.cups]'
    if not by_hand:
        async with serving(server, sections=ALICE) as unknown:
            await unknown.wait_for_stderr(re.escape(f"requires a login that allows work; {line}"))
        await logged_in(tmp_path, server, person)
    registration = f'client_id = "by-hand"\nissuer = "{server.issuer}"' if by_hand else ""
    await serving(server, registration, ALICE).assert_refuses(3, "the account of the operator", line)


async def test_a_shared_account_is_for_all_callers(tmp_path: Path, server: LoginServer, person: Person) -> None:
    await logged_in(tmp_path, server, person)
    async with serving(server, "shared = true", ALICE) as served:
        reply = await post(served, modern(call("cups_cup")), PROOF)
    assert reply.json["result"]["content"] == [{"type": "text", "text": "full"}]
    configure(tmp_path, server, "shared = true")
    state = json.loads((await pegboard(tmp_path, "upstreams", "--json"))[1])
    assert state[0]["login"]["account"] == "the operator's account, for all callers"


async def test_only_the_operator_uses_an_unshared_account(tmp_path: Path, server: LoginServer, person: Person) -> None:
    await logged_in(tmp_path, server, person)
    async with serving(server) as served:
        proof = operator_proof()
        request = modern(message("tools/list"))
        lists = [(await post(served, request, *fields)).json["result"] for fields in ([], [proof])]
        refused = await post(served, modern(call("cups_cup")))
        reply = await post(served, modern(call("cups_cup")), proof)
    assert [[tool["name"] for tool in page["tools"]] for page in lists] == [[], ["cups_cup"]]
    assert [page["cacheScope"] for page in lists] == ["private", "private"]
    assert "for the operator only" in refused.json["result"]["content"][0]["text"]
    assert "full" in reply.json["result"]["content"][0]["text"]


class HeldServer(LoginServer):
    """Requires no token. The first call gets its response, which makes the client send it again, when `released`.

    Attributes:
        carried: the credentials of each call; "" for none.
    """

    def __init__(self, status: int) -> None:
        super().__init__()
        self.valid = {"", "token-1"}
        self.carried: list[str] = []
        self.called, self.released = asyncio.Event(), asyncio.Event()
        self._status = status

    async def _respond(self, request: web.Request) -> web.Response:
        if (await request.json())["method"] == "tools/call":
            self.carried.append(request.headers.get("Authorization", ""))
            if len(self.carried) == 1:
                self.called.set()
                await self.released.wait()
                return web.Response(status=self._status, headers={"Location": self.url, "WWW-Authenticate": "Bearer"})
        return await super()._respond(request)


@pytest.mark.parametrize(
    ("is_operator", "status", "again"),
    [(True, 401, ["Bearer token-1"]), (True, 307, ["Bearer token-1"]), (False, 401, []), (False, 307, [""])],
)
async def test_a_call_that_began_before_the_login_carries_its_token_only_for_the_operator(
    is_operator: bool, status: int, again: list[str]
) -> None:
    async with HeldServer(status) as server, serving(server) as served:
        fields = [operator_proof()] if is_operator else []
        running = asyncio.ensure_future(post(served, modern(call("cups_cup")), *fields))
        await asyncio.wait_for(server.called.wait(), WAIT)
        await oauth(ServerConfig(url=server.url), vault_logins(), Browser()).log_in(server.url, {})
        server.released.set()
        await running
    assert server.carried == ["", *again]


@pytest.mark.needs("tool_commands")
async def test_a_login_at_a_foreign_authorization_server(tmp_path: Path, person: Person) -> None:
    async with guarded_peer(tmp_path) as (provider, peer):
        (tmp_path / "hostconfig.toml").write_text(f"{BARE}{VAULT}{toml('far', {'url': peer.url})}")
        login = await pegboard(tmp_path, "login", "--server", "far", person=person)
        assert login[:2] == (0, f"You are logged in at far, by {provider.url}.\n"), login
        who = await pegboard(tmp_path, "call", "far_whoami", "--json")
        assert who[0] == 0, who
        assert "ann" in who[1]
        again = await pegboard(tmp_path, "login", "--server", "far", "--json", person=person)
        assert json.loads(again[1])["issuer"] == provider.url
        assert "eyJ" not in str((login, who, again))
