"""Mounted servers at which each caller logs in: a host on HTTP, its issuer, and a scripted authorization server."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pegboard import AuthorizationRequiredError
from pegboard.plugin import LoginPage
from pegboard_client import Asked, Client, Endpoint
from pegboard_plugins.auth.vault import server_logins
from pegboard_plugins.auth.vault.file_tokens import FileTokens
from pegboard_plugins.auth.vault.login_flows import LoginFlow, LoginFlows
from pegboard_plugins.auth.vault.own_logins import OwnLogins
from pegboard_plugins.auth.vault.server_logins import ServerLogins
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_keys import vault_keys
from pegboard_plugins.auth.vault.vault_store import TokenKey
from pegboard_plugins.servers.upstreams.caller_login import CallerLogin, agreements_at, end_login
from pegboard_plugins.servers.upstreams.host_login import oauth
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from tests.plugins.auth.vault.test_commands import pegboard
from tests.plugins.servers.upstreams.mounts import names
from tests.plugins.servers.upstreams.test_host_login import MemoryLogins, configure, stdio, vault_logins
from tests.support.callers import Network, caller_sections
from tests.support.config import section
from tests.support.http import Line, Served, http_config
from tests.support.http_mcp import call
from tests.support.login_issuer import LoginIssuer
from tests.support.login_server import Browser, LoginServer
from tests.support.oidc import free_port
from tests.support.person import Person

CUP = call("cups_cup")


class Encrypted(Served):
    """A host that serves HTTPS. Clients do not check its certificate."""

    async def connect(self, host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None) -> Line:
        return await super().connect(host, tls=tls or ssl._create_unverified_context())


def served_host(
    tmp_path: Path,
    issuer: str,
    mounted: dict[str, Any],
    *,
    callers: bool = True,
    more: str = "",
    port: int | None = None,
    tls: str = "",
) -> Served:
    """Return a host in a folder that mounts a server. Unless `callers` is false, it has pages for logins of callers."""
    port = port or free_port()
    url = f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"
    sections = caller_sections(issuer, url if callers else "")
    sections += section("plugins.upstreams.servers.cups", {"identity": "user", **mounted}) + more
    config = http_config(f'host = "127.0.0.1"\nport = {port}\n{tls}', more=sections)
    (tmp_path / "hostconfig.toml").write_text(config, "utf-8")  # for commands
    kind = Encrypted if tls else Served
    return kind(tmp_path, config, env={"PEGBOARD_STATE_DIR": os.environ["PEGBOARD_STATE_DIR"]}, cwd=tmp_path)


@asynccontextmanager
async def hosting(tmp_path: Path, mounted: dict[str, Any], **options: Any) -> AsyncIterator[Network]:
    async with LoginIssuer() as issuer, served_host(tmp_path, issuer.url, mounted, **options) as served:
        yield Network(served, issuer, CUP)


@pytest.fixture
async def network(tmp_path: Path, server: LoginServer) -> AsyncIterator[Network]:
    async with hosting(tmp_path, {"url": server.url}) as network:
        yield network


async def test_a_caller_logs_in_and_calls(server: LoginServer, network: Network) -> None:
    assert await network.tools("ann") == ["cups_login"]
    person = await network.log_in("ann", call("cups_login"), client_id="editor")
    assert person.shown[0] == 200, person.shown
    assert await network.tools("ann", client_id="editor") == ["cups_cup"]
    assert await network.text("ann", client_id="editor") == "full"
    again = await network.ask("ann", call("cups_login"), client_id="editor")
    assert again["content"][0]["text"] == "You are logged in at cups. Its tools: cups_cup."
    assert len(server.pages) == 1
    assert await network.tools("bob", client_id="editor") == ["cups_login"]
    assert "token-" not in network.served.stderr


@pytest.mark.requirement("SEC-08")
async def test_each_program_needs_the_consent_of_the_person(server: LoginServer, network: Network) -> None:
    """A program that the caller has not agreed to sees no tools, and cannot use the login."""
    person = await network.log_in("ann", client_id="editor")
    terms = next(text for text in person.texts if "Allow access?" in text)
    for fact in ("editor", "cups, 127.0.0.1", server.issuer, "<code>work</code>"):
        assert fact in terms
    assert await network.text("ann", client_id="editor") == "full"
    assert await network.tools("ann", client_id="<spy>") == ["cups_login"]
    agreed = await network.log_in("ann", client_id="<spy>")
    assert "&lt;spy&gt;" in agreed.texts[-2]
    assert (agreed.shown[0], len(server.pages)) == (200, 1)
    assert await network.text("ann", client_id="<spy>") == "full"


async def test_a_person_who_refuses_reaches_no_issuer(server: LoginServer, network: Network) -> None:
    link = await network.link("ann")
    async with Person(answer="deny") as person:
        await person.open(link)
    assert (person.shown[0], "you have refused it" in person.shown[1].lower()) == (400, True)
    assert server.pages == []
    assert await network.link("ann") != link
    await network.link("ann")
    assert await network.tools("ann") == ["cups_login"]


@pytest.mark.requirement("ASK-11")
async def test_a_page_opened_by_another_user_proves_nothing(server: LoginServer, network: Network) -> None:
    """Eve sends the answer to the terms of her login, and its end, to Bob."""
    link = await network.link("eve")
    origin, _, rest = link.partition("/vault/login?id=")
    async with Person() as bob, Person() as eve:
        network.issuer.user = "eve"
        await eve.open(link, until=f"{origin}/vault/consent")
        answer = {"id": rest, "answer": "allow"}
        for browser, fields in ((bob, answer), (eve, {**answer, "id": "other"})):
            assert await browser.post(f"{origin}/vault/consent", fields) in (403, 404)
        assert await eve.post(f"{origin}/vault/consent", answer, Origin="https://evil.example") == 403
        assert server.pages == []
        end = await eve.open(link, until=f"{origin}/vault/callback")
        await bob.open(end)
        assert bob.shown[0] == 403
        assert server.forms == []


async def test_a_login_without_consent_has_no_end(server: LoginServer, network: Network) -> None:
    link = await network.link("ann")
    origin = link.partition("/vault/")[0]
    async with Person() as person:
        await person.open(link, until=f"{origin}/vault/consent")
        for state in ("", "guessed"):
            await person.open(f"{origin}/vault/callback?code=evil&state={state}")
            assert person.shown[0] == 400
    assert server.forms == []


async def test_the_response_of_another_issuer_is_refused(server: LoginServer, network: Network) -> None:
    """An issuer may send the browser to another issuer, whose response comes to the address of that one."""
    link = await network.link("ann")
    network.issuer.user = "ann"
    callback = f"{link.partition('/vault/')[0]}/vault/callback"
    async with Person() as person:
        own = await person.open(link, until=callback)
        for wrong in (callback, f"{callback}/other"):
            await person.open(f"{wrong}?{own.partition('?')[2]}")
            assert (person.shown[0], server.forms) == (400, [])
        await person.open(own)
        assert person.shown[0] == 200, person.shown


class SlowServer(LoginServer):
    """Answers MCP requests only while `free` is set. `waiting` is set when the first one waits."""

    def __init__(self) -> None:
        super().__init__()
        self.free, self.waiting = asyncio.Event(), asyncio.Event()
        self.free.set()

    async def _respond(self, request: web.Request) -> web.Response:
        if not self.free.is_set():
            self.waiting.set()
        await self.free.wait()
        return await super()._respond(request)


async def test_a_call_that_connects_when_the_login_ends_runs(tmp_path: Path, person: Person) -> None:
    async with SlowServer() as server, hosting(tmp_path, {"url": server.url}) as network:
        link = await network.link("ann")
        server.free.clear()
        connecting: asyncio.Future[object] = asyncio.ensure_future(server.waiting.wait())
        calling: asyncio.Future[object] = asyncio.ensure_future(network.text("ann"))
        while not connecting.done():
            if calling.done():  # the next attempt to connect was not due
                calling = asyncio.ensure_future(network.text("ann"))
            await asyncio.wait((connecting, calling), return_when=asyncio.FIRST_COMPLETED)
        network.issuer.user = "ann"
        await person.open(link)
        assert person.shown[0] == 200, person.shown
        server.free.set()
        assert await calling == "full"


async def test_callers_share_a_registration_and_no_login(server: LoginServer, network: Network) -> None:
    """The issuer forgets the registration: the browser goes to a second page at once."""
    server.valid = {f"token-{number}" for number in range(1, 5)}
    assert [(await network.log_in(user)).shown[0] for user in ("ann", "bob")] == [200, 200]
    assert [document["application_type"] for document in server.registered] == ["native"]
    assert server.registered[0]["redirect_uris"] == [server.pages[0]["redirect_uri"]]
    server.tokens = [(401, {"error": "invalid_client"})]
    assert (await network.log_in("eve")).shown[0] == 200
    assert (len(server.registered), len(server.pages)) == (2, 4)
    assert [await network.text(user) for user in ("ann", "bob", "eve")] == ["full"] * 3
    assert await network.tools("zoe") == ["cups_login"]


async def test_a_token_is_renewed_once_among_the_calls_of_a_caller(server: LoginServer, network: Network) -> None:
    server.tokens = [(200, {"refresh_token": "refresh-1", "expires_in": 0}), (200, {"expires_in": 3600})]
    server.accepted = "token-2"
    await network.log_in("ann")
    assert await asyncio.gather(*(network.text("ann") for _ in range(5))) == ["full"] * 5
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize(("error", "registrations"), [("invalid_grant", 1), ("invalid_client", 2)])
async def test_a_renewal_that_the_issuer_refuses_leads_to_one_question(
    server: LoginServer, network: Network, error: str, registrations: int
) -> None:
    server.tokens = [(200, {"refresh_token": "refresh-1", "expires_in": 0}), (401, {"error": error})]
    server.accepted = "token-3"
    await network.log_in("ann")
    assert (await network.log_in("ann")).shown[0] == 200
    assert await network.text("ann") == "full"
    assert (len(server.registered), len(server.pages)) == (registrations, 2)


async def test_a_withdrawn_token_leads_to_one_question(server: LoginServer, network: Network) -> None:
    await network.log_in("ann")
    assert await network.text("ann") == "full"
    server.accepted = "token-2"
    assert len({await network.link("ann") for _ in range(3)}) == 1
    person = await network.log_in("ann")
    assert "Allow access?" not in str(person.texts)  # the person has agreed before
    assert await network.text("ann") == "full"


@pytest.mark.parametrize("refusal", ["", 'Bearer error="insufficient_scope", scope="pour"'])
async def test_a_server_that_refuses_each_login_asks_twice(server: LoginServer, network: Network, refusal: str) -> None:
    server.accepted = "never"
    if refusal:
        server.valid = {"token-1", "token-2", "token-3"}
        await network.log_in("ann")
        assert await network.text("ann") == "full"
        server.pages.clear()
    server.refusal = refusal
    for _ in range(2):
        await network.log_in("ann")
    result = await network.ask("ann")
    assert "none could be obtained just now" in result["content"][0]["text"]
    assert "url" not in result["_meta"]["pegboard/error"]["authorizationRequired"]
    await network.served.wait_for_stderr("the last 2 logins were refused or not completed")
    assert len(server.pages) == 2


async def test_more_scopes_need_the_consent_to_what_is_added(server: LoginServer, network: Network) -> None:
    await network.log_in("ann")
    server.refusal = 'Bearer error="insufficient_scope", scope="pour"'
    person = await network.log_in("ann")
    added = next(text for text in person.texts if "Allow access?" in text).partition("<dt>New</dt>")[2]
    assert "<code>pour</code>" in added
    assert "<code>work</code>" not in added
    assert set(server.pages[-1]["scope"].split()) == {"work", "pour"}
    server.accepted, server.refusal = "token-2", ""
    assert await network.text("ann") == "full"


async def test_a_program_never_uses_a_login_that_another_program_extends(server: LoginServer, network: Network) -> None:
    server.valid = {"token-1", "token-2"}
    server.tokens = [(200, {"expires_in": 0})]
    for program in ("editor", "painter"):
        await network.log_in("ann", client_id=program)
        assert await network.text("ann", client_id=program) == "full"
    server.refusal = 'Bearer error="insufficient_scope", scope="pour"'
    await network.log_in("ann", client_id="painter")
    server.refusal = ""
    assert await network.text("ann", client_id="painter") == "full"
    assert await network.link("ann", client_id="editor")


async def test_scopes_that_no_page_showed_need_another_consent(server: LoginServer, network: Network) -> None:
    server.tokens = [(200, {"scope": "work pour"})]
    await network.log_in("ann")
    person = await network.log_in("ann")
    assert "<dt>New</dt><dd><code>pour</code></dd>" in str(person.texts)
    assert await network.text("ann") == "full"
    assert len(server.pages) == 1


async def test_another_issuer_needs_another_consent_and_gets_no_token(server: LoginServer, network: Network) -> None:
    server.tokens = [(200, {"refresh_token": "refresh-canary"})]
    await network.log_in("ann")
    assert await network.text("ann") == "full"
    server.metadata_path += "/moved"
    server.metadata["issuer"] += "/moved"
    server.metadata["token_endpoint"] += "?moved"
    server.resource["authorization_servers"] = [server.metadata["issuer"]]
    server.accepted = "token-3"
    person = await network.log_in("ann")
    assert any("Allow access?" in text and f"{server.issuer}/moved" in text for text in person.texts)
    assert ["canary" in str(form) for form in server.forms if "at" in form] == [False]
    assert await network.text("ann") == "full"
    assert len(server.registered) == 2


async def test_the_login_of_the_operator_is_not_for_callers(tmp_path: Path, server: LoginServer) -> None:
    await oauth(ServerConfig(url=server.url), vault_logins(), Browser()).log_in(server.url, {})
    async with hosting(tmp_path, {"url": server.url}) as network:
        assert await network.tools("ann") == ["cups_login"]
        assert await network.link("ann")


async def test_the_operator_logs_in_as_a_caller(tmp_path: Path, server: LoginServer, person: Person) -> None:
    configure(tmp_path, server, 'identity = "user"')
    async with stdio(tmp_path) as client:
        assert await names(client) == ["cups_login"]
        refused = await client.call("cups_login", {})
        await person.open(refused["_meta"]["pegboard/error"]["authorizationRequired"]["url"])
        assert person.shown[0] == 200, person.shown
        assert "Its tools: cups_cup." in (await client.call("cups_login", {}))["content"][0]["text"]
    assert [(await pegboard(tmp_path, "logout", "--server", "cups"))[0] for _ in range(2)] == [0, 1]


async def test_callers_whom_no_page_can_identify_are_told(tmp_path: Path, server: LoginServer) -> None:
    async with hosting(tmp_path, {"url": server.url}, callers=False) as network:
        assert await network.tools("ann") == []
        await network.served.wait_for_stderr(r"requires a login that allows work; add \[plugins.vault.callers\]")
    by_hand = {"url": server.url, "client_id": "by-hand", "issuer": server.issuer}
    refused = served_host(tmp_path, "https://login.example.com", by_hand, callers=False)
    await refused.assert_refuses(3, "callers must log in at the server 'cups': add [plugins.vault.callers]")


KEY = section("plugins.upstreams.servers.cups.headers.Authorization", {"user_secret": "CUPS_KEY"})


async def test_a_caller_pastes_a_key_which_the_operator_can_remove(
    tmp_path: Path, own_state: Path, server: LoginServer, person: Person
) -> None:
    server.accepted = "key-canary"
    async with hosting(tmp_path, {"url": server.url}, more=KEY) as network:
        assert await network.tools("ann") == ["cups_login"]
        for pasted in ("wrong", " key-canary "):
            person = await network.log_in("ann", key=pasted)
            assert person.shown[0] == 200, person.shown
            assert any("<dt>Key</dt><dd>CUPS_KEY</dd>" in text for text in person.texts)
        assert await network.text("ann") == "full"
        assert [await network.tools(user) for user in ("ann", "bob")] == [["cups_cup"], ["cups_login"]]
        assert await network.tools("ann", client_id="spy") == ["cups_login"]
        agreed = await network.log_in("ann", client_id="spy")
        assert (agreed.shown[0], "CUPS_KEY" in str(agreed.texts)) == (200, False)
        assert await network.text("ann", client_id="spy") == "full"
        state = await pegboard(tmp_path, "upstreams")
        assert "  key: ann\n" in state[1], state
        assert (await pegboard(tmp_path, "logout", "--server", "cups/bob"))[0] == 1
        removed = await pegboard(tmp_path, "logout", "--server", "cups/ann")
        assert removed[0] == 0, removed
        assert await network.link("ann")
        assert "canary" not in network.served.stderr + str((person.texts, state, removed))
        assert b"canary" not in (own_state / "vault.db").read_bytes()


async def test_the_operator_sees_and_ends_callers_logins(tmp_path: Path, server: LoginServer, network: Network) -> None:
    server.metadata["revocation_endpoint"] = f"{server.origin}/revoke"
    server.tokens = [(200, {"expires_in": 3600, "refresh_token": "refresh-canary"})]
    await network.log_in("ann")
    state = await pegboard(tmp_path, "upstreams")
    assert f"  login: ann, at {server.issuer}, until " in state[1], state
    removed = await pegboard(tmp_path, "logout", "--server", "cups/ann")
    assert (removed[0], [form["token"] for form in server.revoked]) == (0, ["refresh-canary"]), removed
    assert "canary" not in str((state, removed))
    server.accepted = "token-2"
    await network.log_in("ann", client_id="editor")
    assert await network.link("ann")  # the agreement for the first program has ended with the login


@pytest.mark.parametrize("more", ["", KEY], ids=["login", "key"])
async def test_a_caller_ends_the_own_login(tmp_path: Path, server: LoginServer, more: str) -> None:
    server.metadata["revocation_endpoint"] = f"{server.origin}/revoke"
    server.tokens = [(200, {"refresh_token": "refresh-canary", "expires_in": 3600})]
    server.valid = {"token-2", "pasted"}
    async with hosting(tmp_path, {"url": server.url}, more=more) as network:
        page = network.served.url.removesuffix("/mcp") + "/vault/logins"
        for user in ("ann", "bob"):
            person = await network.log_in(user, key="pasted")
            assert f"You can end this at {page}." in str(person.texts)
        async with Person() as person, Person() as stranger:
            network.issuer.user = "ann"
            await person.open(page)
            assert f"The login at {server.url} is removed.<" in person.shown[1]
            assert "There are none." in person.shown[1]
            for status, origin in ((200, {}), (403, {"Origin": "https://evil.example"})):
                assert await person.post(page, {"name": server.url}, **origin) == status
            assert await stranger.post(page, {"name": server.url}) == 303
        assert [form["token"] for form in server.revoked] == ([] if more else ["refresh-canary"])
        assert await network.text("bob") == "full"
        assert await network.link("ann")  # the server still accepts the access token
        assert (await network.log_in("bob", client_id="chat")).shown[0] == 200
        waiting = await network.link("bob", client_id="spy")
        async with Person() as person:
            network.issuer.user = "bob"
            await person.open(page)
            await person.open(waiting)
            assert (person.shown[0], "has ended. Call again" in person.shown[1]) == (400, True)
        assert await network.link("bob", client_id="spy")


ANN = ("https://issuer.example.com", "ann")


class InterruptedVault(FileTokens):
    """A vault. Before one of its steps, `end` runs until it returns or waits for a lock."""

    end: Callable[[], Awaitable[object]]
    steps_left = 0
    ending: asyncio.Future[object] | None = None

    def __init__(self, file: Path) -> None:
        super().__init__(lambda: file, lambda: vault_keys(VaultConfig()), {})
        self._waits = asyncio.Event()

    async def _step(self) -> None:
        self.steps_left -= 1
        if self.steps_left == 0:
            self.ending = asyncio.ensure_future(self.end())
            waiting: asyncio.Future[object] = asyncio.ensure_future(self._waits.wait())
            await asyncio.wait((self.ending, waiting), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    async def load_login(self, row: str) -> Mapping[str, Any] | None:
        await self._step()
        return await super().load_login(row)

    async def save_login(self, row: str, login: Mapping[str, Any] | None) -> None:
        await self._step()
        await super().save_login(row, login)

    @asynccontextmanager
    async def lock(self, name: str) -> AsyncIterator[bool]:
        async with super().lock(name) as is_ours:
            if not is_ours:
                self._waits.set()
            yield is_ours


class AgreeingLogins(ServerLogins):
    """The logins of a person who agrees to each page at once."""

    async def begin(
        self, name: str, title: str, log_in: Callable[[LoginPage], Awaitable[object]], seconds: float
    ) -> tuple[str, str]:
        page = LoginFlow(TokenKey(*ANN, name), title)
        page.response.set_result({})
        await log_in(page)
        return page.id, "https://host.example.com/page"


ENDS: Mapping[str, Callable[[LoginFlows, str], Awaitable[object]]] = {
    "command": lambda flows, url: end_login(ServerConfig(url=url), ServerLogins(flows, ANN)),
    "page": lambda flows, url: OwnLogins(flows, ANN[1]).end(url),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_a_login_that_ends_during_a_consent_is_not_saved_again(
    tmp_path: Path, end: Callable[[LoginFlows, str], Awaitable[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before each step of the consent in turn. The first steps renew the token."""
    monkeypatch.setattr(server_logins, "LOCK_POLL_SECONDS", 0)
    async with LoginServer() as server:
        config, memory = ServerConfig(url=server.url), MemoryLogins()
        server.tokens = [(200, {"refresh_token": "refresh", "expires_in": 0})]
        await oauth(config, memory, Browser()).log_in(server.url, {})
        server.metadata["registration_endpoint"] = ""  # no other login is possible

        async def is_interrupted(number: int) -> bool:
            """Let a person agree, and end the login before a step. Return False if there is no such step."""
            vault = InterruptedVault(tmp_path / "vault.db")
            flows = LoginFlows({}, vault, issuer=ANN[0])
            own = AgreeingLogins(flows, ANN)
            vault.end = partial(end, flows, server.url)
            await own.save(server.url, memory.logins[server.url])
            vault.steps_left = number
            login = CallerLogin("cups", config, ServerLogins(flows), own, "editor", 1.0, lambda: None)
            await login.required(AuthorizationRequiredError("cups"))
            if vault.ending is None:
                return False
            await vault.ending
            assert [await own.load(name) for name in (server.url, agreements_at(server.url))] == [None, None], number
            return True

        steps = [number for number in range(1, 30) if await is_interrupted(number)]
    assert len(steps) > 5


async def test_a_form_that_names_no_login_ends_none(tmp_path: Path) -> None:
    flows = LoginFlows({}, InterruptedVault(tmp_path / "vault.db"), issuer=ANN[0])
    own = ServerLogins(flows, ANN)
    await own.save("https://cups.example.com", {"key": "a key"})
    await OwnLogins(flows, ANN[1]).end("")
    assert await own.load("https://cups.example.com") == {"key": "a key"}


@pytest.mark.needs("lock")
@pytest.mark.parametrize("section_of_lock", ["", "[plugins.lock]\n"])
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_accepted_tools_are_listed_before_a_login_and_start_it(
    tmp_path: Path, server: LoginServer, person: Person, revision: str, section_of_lock: str
) -> None:
    async with LoginIssuer() as issuer:
        served = served_host(tmp_path, issuer.url, {"url": server.url}, more=section_of_lock)
        unknown = await pegboard(tmp_path, "lock")
        assert "it requires a login; run `pegboard login --server cups`" in unknown[2]
        (tmp_path / "pegboard.lock").unlink()
        assert (await pegboard(tmp_path, "login", "--server", "cups", person=person))[0] == 0
        locked = await pegboard(tmp_path, "lock")
        assert (locked[0], "2 tools" in locked[1]) == (0, True), locked
        server.accepted = "token-2"
        pages: list[str] = []

        async def ask(question: Asked) -> Mapping[str, Any]:
            pages.append(question.params["url"])
            await person.open(pages[-1])
            return {"action": "accept"}

        able: Any = {"elicitation": {"url": {}}}
        async with served:
            network = Network(served, issuer, CUP)
            endpoint = Endpoint(served.url, headers={"Authorization": f"Bearer {issuer.token(sub='ann')}"})
            async with Client(endpoint, revision=revision, ask=ask, capabilities=able) as client:
                (tool,) = await client.tools()
                assert tool["name"] == "cups_cup"
                assert tool["_meta"]["pegboard/requirements"]["authorization"]["id"] == "cups"
                assert "Cheers" in str(await client.prompt("cups_toast", {}))
                assert (await client.call("cups_cup", {}))["content"][0]["text"] == "full"
                assert ["_meta" in tool for tool in await client.tools()] == [False]
                assert len(pages) == 1
            assert await network.link("bob")
            assert await network.tools("bob") == ["cups_cup"]


async def test_an_issuer_that_lies_or_is_down_gets_no_browser(server: LoginServer, network: Network) -> None:
    honest = server.metadata
    for user, change, reason in (
        ("ann", {"registration_endpoint": "http://127.0.0.1:9/register"}, "cannot be reached"),
        ("bob", {"registration_endpoint": ""}, r"Set client_id, .* in \[plugins.upstreams.servers.cups\]"),
        ("eve", {"issuer": "https://other.example.com"}, "has metadata of another issuer"),
    ):
        server.metadata = {**honest, **change}
        text = str((await network.ask(user))["content"])
        assert "none could be obtained just now" in text
        assert "/vault/login" not in text
        await network.served.wait_for_stderr(reason)
    server.metadata = {**honest, "authorization_response_iss_parameter_supported": True}
    for user, answer in (("joe", {"iss": "https://evil.example"}), ("kim", {}), ("lea", {"error": "access_denied"})):
        server.answer = answer
        assert (await network.log_in(user)).shown[0] == 400
        assert await network.tools(user) == ["cups_login"]
    assert server.forms == []


@pytest.mark.parametrize("reply", [(503, {}), (200, {"access_token": 5}), (200, {"token_type": "mac"})], ids=str)
async def test_an_issuer_that_sends_no_token_ends_the_login(
    server: LoginServer, network: Network, reply: tuple[int, dict[str, Any]]
) -> None:
    server.tokens = [reply]
    assert (await network.log_in("ann")).shown[0] == 400
    assert await network.tools("ann") == ["cups_login"]
    server.accepted = "token-2"
    assert (await network.log_in("ann")).shown[0] == 200
    assert await network.text("ann") == "full"


async def test_a_slow_issuer_does_not_hold_a_call(tmp_path: Path, server: LoginServer) -> None:
    server.silent = {server.metadata_path}
    waits = section("plugins.upstreams", {"wait_seconds": 0.1})
    async with hosting(tmp_path, {"url": server.url}, more=waits) as network:
        assert "none could be obtained just now" in await network.text("ann")
        await network.served.wait_for_stderr("it did not begin within 0.1 seconds")
