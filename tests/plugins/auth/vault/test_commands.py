"""`pegboard login`, `logins`, `whoami` and `logout`, as processes, and the README of toolkit-github."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard_plugins.auth.vault.vault_store import VaultToken
from tests.plugins.auth.vault import network_kit
from tests.plugins.auth.vault.conftest import KEY, logins
from tests.support.config import section
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.person import Person
from tests.support.provider_server import ProviderServer
from tools.install import ROOT


def configure(folder: Path, **providers: dict[str, Any]) -> None:
    sections = [section(f"plugins.vault.providers.{name}", settings) for name, settings in providers.items()]
    (folder / "hostconfig.toml").write_text("".join(sections), "utf-8")


async def pegboard(
    site: Path | None,
    *arguments: str,
    person: Person | None = None,
    pages: int = 1,
    python: str | Path = sys.executable,
) -> tuple[int | None, str, str]:
    """Run a command, with a person who opens the pages that it prints. Return its code, output and messages.

    Without a folder, the command finds its configuration file.
    """
    pipes: dict[str, Any] = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    config = [] if site is None else ["--config", str(site / "hostconfig.toml")]
    process = await asyncio.create_subprocess_exec(
        python, "-m", "pegboard", *arguments, *config, **pipes, env=dict(os.environ)
    )
    assert process.stderr is not None
    messages = ""
    for _ in range(pages if person is not None else 0):
        line = ""
        while "open this page" not in line:
            line = (await process.stderr.readline()).decode()
            assert line, messages
            messages += line
        assert person is not None
        await person.open(line.split()[-1])
    out, rest = await process.communicate()
    return process.returncode, out.decode(), messages + rest.decode()


async def test_a_login_from_its_begin_to_its_end(tmp_path: Path, provider: ProviderServer, person: Person) -> None:
    configure(tmp_path, acme=provider.settings())
    code, out, errors = await pegboard(tmp_path, "login", "acme", "--scopes", "read", person=person)
    assert (code, out) == (0, "You are logged in at acme.\n"), errors
    assert "the command waits up to 10 minutes; Ctrl-C ends it\n" in errors
    account = await pegboard(tmp_path, "whoami")
    assert account[:2] == (0, "acme: 7\n")
    gone = await pegboard(tmp_path, "logout", "acme")
    assert gone[:2] == (0, "The token of acme is removed.\n")
    assert provider.revoked == ["refresh-1-canary"]
    assert "canary" not in out + errors + str(account) + str(gone)
    code, _, errors = await pegboard(tmp_path, "logout", "acme")
    assert code == 1
    assert "there is no login at 'acme'" in errors
    code, _, errors = await pegboard(tmp_path, "login", "gitlab")
    assert code == 1
    assert "add [plugins.vault.providers.gitlab] with its client_id" in errors


async def test_each_command_prints_json(tmp_path: Path, provider: ProviderServer, person: Person) -> None:
    configure(tmp_path, acme=provider.settings())
    lines = ["login acme --scopes read --json", "logins --json", "whoami --json", "logout acme --json"]
    persons = [person, None, None, None]
    done = [
        await pegboard(tmp_path, *line.split(), person=browser) for line, browser in zip(lines, persons, strict=True)
    ]
    login, listed, account, end = (json.loads(out) for _, out, _ in done)
    assert listed == [login]
    assert "canary" not in str(done)
    assert (login["account"], login["scopes"], login["expires_at"][-1]) == ("7", ["read"], "Z")
    assert (account, end) == ([{"provider": "acme", "account": "7"}], {"provider": "acme", "revoked": True})


async def test_one_damaged_token_does_not_hide_the_others(tmp_path: Path, provider: ProviderServer) -> None:
    configure(tmp_path, acme=provider.settings(), other=provider.settings())
    flows = logins(provider.settings())
    await flows.tokens.save(KEY, VaultToken("access-0-canary"))
    other = logins(provider.settings(), keys=["0123456789abcdef-lost-lost-lost-lost"])
    await other.tokens.save(KEY._replace(provider="other"), VaultToken("access-1-canary"))
    for command in ("logins", "whoami"):
        code, out, errors = await pegboard(tmp_path, command)
        assert code == 0, errors
        assert [line.partition(":")[0] for line in out.splitlines()] == ["acme", "other"]
        assert "pegboard logout other" in out.splitlines()[1]


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize("is_json", [False, True])
async def test_calls_without_a_token_name_the_command(tmp_path: Path, is_json: bool, provider: ProviderServer) -> None:
    """The link of a call would end with its process."""
    configure(tmp_path, acme=provider.settings())
    call = ["call", "network_use", "--file", str(network_kit.__file__), *["--json"] * is_json]
    code, out, errors = await pegboard(tmp_path, *call)
    message = json.loads(out)["error"]["message"] if is_json else errors
    assert code == 1
    command = f"pegboard login acme --scopes read write --config {tmp_path / 'hostconfig.toml'}"
    assert f"log in with `{command}`" in message
    assert "127.0.0.1" not in out + errors


@pytest.mark.needs("why")
async def test_why_tells_whether_the_operator_has_logged_in(tmp_path: Path) -> None:
    line = ["why", "network_use", "--file", str(network_kit.__file__)]
    acme = {"client_id": "a", "issuer": "http://127.0.0.1:9"}
    configure(tmp_path, acme=acme)
    for saved, state in (
        (None, "the operator is not logged in: run `pegboard login acme --scopes read write`"),
        (VaultToken("access", expires_at=1.0), "the operator is not logged in: run `pegboard login acme"),
        (VaultToken("access"), "the login of the operator lacks scopes: run `pegboard login acme --scopes read write`"),
        (VaultToken("access", scopes=("read", "write")), "the operator is logged in\n"),
    ):
        if saved is not None:
            await logins(acme).tokens.save(KEY, saved)
        assert f"it requires a token of acme that allows read, write; {state}" in (await pegboard(tmp_path, *line))[1]
    configure(tmp_path, other=acme)
    text = (await pegboard(tmp_path, *line))[1]
    assert ("it needs ACME_TOKEN\n" in text, "before [plugins.vault.providers.acme] exists" in text) == (True, True)


@pytest.mark.needs("doctor")
async def test_the_doctor_names_providers_without_a_login(tmp_path: Path) -> None:
    acme = {"client_id": "a", "issuer": "http://127.0.0.1:9"}
    configure(tmp_path, acme=acme)
    line = ["doctor", "--file", str(network_kit.__file__)]
    command = f"pegboard login acme --scopes read write --config {tmp_path / 'hostconfig.toml'}"
    advice = f"the operator is not logged in: run `{command}`"
    assert f"logins: network_use requires a token of acme; {advice}" in (await pegboard(tmp_path, *line))[1]
    await logins(acme).tokens.save(KEY, VaultToken("access", scopes=("read", "write")))
    assert "\nok       logins\n" in (await pegboard(tmp_path, *line))[1]


@pytest.mark.needs("tool_commands")
async def test_a_call_names_the_reason_why_a_provider_gives_no_token(tmp_path: Path) -> None:
    configure(tmp_path, acme={"client_id": "a", "issuer": "http://127.0.0.1:9"})
    _, _, errors = await pegboard(tmp_path, "call", "network_use", "--file", str(network_kit.__file__))
    assert "pegboard: Try again later.\npegboard: http://127.0.0.1:9/" in errors
    assert errors.endswith(" cannot be reached: cannot connect: Connection refused\n")


REMOVE = "remove this program from the connected applications of your account there."


@pytest.mark.parametrize(
    ("name", "reply", "revoked", "rest"),
    [
        ("dropbox", None, ["bearer"], f"Dropbox revoked the access token, and may keep the refresh token: {REMOVE}"),
        ("twitch", None, ["token"], f"Twitch revoked the access token, and may keep the refresh token: {REMOVE}"),
        ("twitch", (400, {"message": "Invalid refresh token"}), [], ""),
        ("twitch", (503, {}), [], f"Twitch issues no token at present: status 503: {REMOVE}"),
        ("github", None, [], f"GitHub offers no revocation: {REMOVE}"),
        ("reddit", None, ["token"], ""),
    ],
)
async def test_a_logout_revokes_all_that_it_can_and_names_the_rest(
    tmp_path: Path,
    name: str,
    reply: tuple[int, dict[str, Any]] | None,
    revoked: list[str],
    rest: str,
    provider: ProviderServer,
) -> None:
    """Some providers revoke only access tokens, and only valid tokens."""
    settings = provider.settings(provider=name)
    if name == "github":
        del settings["revocation_endpoint"]
    configure(tmp_path, acme=settings)
    await logins(settings).tokens.save(KEY, VaultToken("access-0-canary", "refresh-0-canary", expires_at=1))
    provider.replies = [] if reply is None else [reply]
    code, out, errors = await pegboard(tmp_path, "logout", "acme")
    assert (code, out) == (0, f"The token of acme is removed. {rest}".rstrip() + "\n"), errors
    sent = [form[member] for form, member in zip(provider.revocations, revoked, strict=True)]
    assert sent == ["refresh-0-canary" if name == "reddit" else "access-1-canary"] * len(revoked)


SECTION = (ROOT / "toolkits/github/README.md").read_text("utf-8").partition("### Log in with a browser")[2]
(COMMANDS,) = re.findall(r"^```sh\n(.*?)^```$", SECTION.partition("\n## ")[0], re.M | re.S)
CONFIG = SECTION.partition("```toml\n")[2].partition("```")[0]
ELSEWHERE = """
authorization_endpoint = "{origin}/authorize"
token_endpoint = "{origin}/token"
account_endpoint = "{origin}/user"

[toolkits.github]
base_url = "{origin}"
"""
"""GitHub's addresses, replaced."""


@pytest.mark.needs("tool_commands")
@pytest.mark.timeout(300)  # the first run makes an environment
async def test_the_commands_in_the_readme_of_toolkit_github(
    tmp_path: Path, provider: ProviderServer, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From wheels to a result, at a loopback server in place of GitHub."""
    names = ("pegboard", "toolkit-github")
    environment = await asyncio.to_thread(make_environment, "github", *names, wheels=built_wheels())
    (tmp_path / "hostconfig.toml").write_text(CONFIG + ELSEWHERE.format(origin=provider.url), "utf-8")
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("GITHUB_CLIENT_SECRET", "client-secret-canary")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    outputs = []
    for line in COMMANDS.splitlines():
        browser = person if "login" in line else None
        code, out, messages = await pegboard(None, *line.split()[1:], person=browser, python=executable(environment))
        assert code == 0, messages
        assert "canary" not in out + messages
        outputs.append(out)
    assert outputs[1] == "You are logged in at GitHub.\n"
    assert json.loads(outputs[2])["login"] == "octocat"
    assert (provider.pages[0]["scope"], provider.forms[0]["client_secret"]) == ("repo", "client-secret-canary")
