"""The commands in the README of toolkit-github, from wheels to a result, at a loopback server in place of GitHub."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.support.environments import built_wheels, executable, make_environment
from tests.support.github_server import GitHubServer
from tests.support.person import Person
from tests.support.wire import client_environment
from tools.install import ROOT

pytestmark = pytest.mark.timeout(300)  # the first run makes an environment

SECTION = (ROOT / "toolkits/github/README.md").read_text("utf-8").partition("### Log in with a browser")[2]
(COMMANDS,) = re.findall(r"^```sh\n(.*?)^```$", SECTION.partition("\n## ")[0], re.M | re.S)
CONFIG = SECTION.partition("```toml\n")[2].partition("```")[0]
ELSEWHERE = """
authorization_endpoint = "{origin}/login/oauth/authorize"
token_endpoint = "{origin}/login/oauth/access_token"
account_endpoint = "{origin}/user"

[toolkits.github]
base_url = "{origin}"
"""
"""GitHub's addresses, replaced."""


async def test_a_user_installs_logs_in_and_calls(tmp_path: Path) -> None:
    names = ("pegboard", "toolkit-github")
    environment = await asyncio.to_thread(make_environment, "github", *names, wheels=built_wheels())
    async with GitHubServer() as github, Person() as person:
        (tmp_path / "hostconfig.toml").write_text(CONFIG + ELSEWHERE.format(origin=github.origin), "utf-8")
        env = client_environment(tmp_path, {"GITHUB_CLIENT_SECRET": github.SECRET})
        outputs = []
        for line in COMMANDS.splitlines():
            name, *arguments = line.split()
            process = await asyncio.create_subprocess_exec(
                executable(environment, name),
                *arguments,
                cwd=tmp_path,
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            assert process.stdout is not None
            assert process.stderr is not None
            messages = b""
            while line.startswith("pegboard login") and b"open this page" not in messages:
                read = await process.stderr.readline()
                assert read, messages.decode()
                messages += read
            if messages:
                await person.open(messages.decode().split()[-1])
            out, wrong = await process.communicate()
            assert process.returncode == 0, (messages + wrong).decode()
            outputs.append(out.decode())
            assert github.TOKEN not in (out + messages + wrong).decode()
        assert outputs[1] == "You are logged in at GitHub.\n"
        assert json.loads(outputs[2])["login"] == "octocat"
        assert github.scopes == ["repo"]
