"""The commands in the README of toolkit-github, from wheels to a result, at a loopback server in place of GitHub."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.plugins.auth.vault.test_commands import pegboard
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.person import Person
from tests.support.provider_server import ProviderServer
from tools.install import ROOT

pytestmark = pytest.mark.timeout(300)  # the first run makes an environment

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


async def test_a_user_installs_logs_in_and_calls(
    tmp_path: Path, provider: ProviderServer, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
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
