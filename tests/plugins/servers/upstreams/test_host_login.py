"""Mounted servers at which the operator logs in: real processes, and a scripted authorization server on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.auth.vault.test_commands import pegboard
from tests.support.login_server import LoginServer
from tests.support.person import Person

VAULT = "[plugins.vault]\n"


def configure(folder: Path, server: LoginServer, more: str = "", *, sections: str = VAULT) -> None:
    text = f'{sections}[plugins.upstreams.servers.cups]\nurl = "{server.url}"\n{more}\n'
    (folder / "hostconfig.toml").write_text(text, "utf-8")


async def test_an_operator_logs_in_and_calls(tmp_path: Path) -> None:
    async with LoginServer() as server, Person() as person:
        server.tokens = [(200, {"access_token": "token-1", "refresh_token": "refresh-canary", "expires_in": 3600})]
        configure(tmp_path, server)
        before = await pegboard(tmp_path, "upstreams")
        assert before[0] == 1
        assert "requires a login that allows work; run `pegboard login --server cups`" in before[1]
        login = await pegboard(tmp_path, "login", "--server", "cups", person=person)
        assert login[:2] == (0, f"You are logged in at cups, by {server.issuer}.\n"), login
        state = await pegboard(tmp_path, "upstreams")
        call = await pegboard(tmp_path, "call", "cups_cup")
        assert state[0] == 0, state
        assert f"login: the operator, at {server.issuer}, until " in state[1]
        assert call[:2] == (0, "full\n"), call
        assert "token-1" not in str((before, login, state, call))
        assert "canary" not in str((before, login, state, call))


async def test_a_registration_that_the_issuer_forgot_is_made_again_once(tmp_path: Path) -> None:
    """The renewal shows it before the page opens, and the exchange of the code shows it without a refresh token."""
    gone = (401, {"error": "invalid_client"})
    async with LoginServer() as server, Person() as person:
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
    ("change", "problem"),
    [
        (
            {"registration_endpoint": ""},
            "Set client_id, issuer and perhaps client_secret in [plugins.upstreams",
        ),
        ({"code_challenge_methods_supported": None}, "does not support PKCE with S256"),
        ({"authorization_response_iss_parameter_supported": True}, "the response lacks `iss`"),
        ({"issuer": "https://other.example.com"}, "has metadata of another issuer"),
    ],
)
async def test_a_login_that_is_not_safe_ends_with_its_reason(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    async with LoginServer() as server, Person() as person:
        server.metadata |= change
        configure(tmp_path, server)
        opens = person if "iss`" in problem else None
        code, out, errors = await pegboard(tmp_path, "login", "--server", "cups", person=opens)
        assert (code, out) == (1, "")
        assert problem in errors
        assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("sections", "more", "server", "problem"),
    [
        ("", "", "cups", "enables the plugin that adds it"),
        (VAULT, "", "mugs", "add [plugins.upstreams.servers.mugs] with its url; mounted servers: cups"),
        (VAULT, 'identity = "user"', "cups", "the host needs no login at 'cups'"),
        (VAULT, 'client_id = "by-hand"', "cups", "client_id requires issuer"),
        (VAULT, 'client_id = "by-hand"\nissuer = "https://other.example.com"', "cups", "registered at https://other"),
    ],
)
async def test_a_login_that_the_settings_exclude(
    tmp_path: Path, sections: str, more: str, server: str, problem: str
) -> None:
    async with LoginServer() as scripted:
        configure(tmp_path, scripted, more, sections=sections)
        code, _, errors = await pegboard(tmp_path, "login", "--server", server)
        assert code != 0
        assert problem in errors
        assert not scripted.pages
