"""Canaries in every place that a secret can come from: none of them gets out, but by the result of a tool."""

from __future__ import annotations

import base64
import inspect
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.plugins.worker.conftest import SECRET, Engine, token
from tests.secrecy import leaky_kit, ring
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import Session, ask, call
from tests.support.pool import TOOLKITS
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import PEGBOARD, Wire, client_environment

MARK = "cnry"
"""The middle of every canary, after characters that libraries quote."""
CANARIES = {
    name: f'{name.lower()}/k+"é"={MARK}-7f3a{place}'
    for place, name in enumerate([*leaky_kit.SECRETS, "password", "token", "sealed", "userinfo"])
}
CONFIG = f"""
[host]
disabled_toolkits = {TOOLKITS}
secret_stores = ["secrets_env", "secrets_dotenv", "secrets_files", "secrets_keyring"]
log_level = "debug"

[plugins.secrets_files]
directory = "mounted"

[toolkits.leaky]
password = {json.dumps(CANARIES["password"])}
token = {{ env = "LEAKY_TOKEN" }}
sealed = {json.dumps(CANARIES["sealed"])}
address = "https://me:{MARK}-in-the-address@127.0.0.1/"
"""
TOOLS = sorted(
    name
    for name in ("accident", "caused", "purpose", "upstream", "fatal", "worded", "protocol", "group", "leaving",
                 "address", "client", "status", "misfit", "undeclared", "logged", "printed")
)  # fmt: skip


EXPOSED = {
    f"ARCADE_DEBUG_EXPOSE_{what}_IN_TOOL_ERROR_RESPONSES": "yes-i-accept-leaking-internals-to-the-agent"
    for what in ("DEVELOPER_MESSAGE", "STACKTRACE")
}
"""The variables that show details for the log to models."""


class Place(NamedTuple):
    """A folder in which a host runs, and what it is given."""

    folder: Path
    site: Path
    env: dict[str, str]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder, site = tmp_path / "folder", tmp_path / "site"
    (folder / "mounted").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "hostconfig.toml").write_text(CONFIG, "utf-8")
    (folder / ".env").write_text(f"CNRY_DOTENV='{CANARIES['CNRY_DOTENV']}'\n", "utf-8")
    (folder / "file").write_text(CANARIES["CNRY_FILE"] + "\n", "utf-8")
    (folder / "mounted" / "CNRY_DIR").write_text(CANARIES["CNRY_DIR"], "utf-8")
    files = {"leaky_kit.py": inspect.getsource(leaky_kit), "canary_ring.py": inspect.getsource(ring)}
    make_distribution(site, "leaky-kit", "1.0", {"pegboard.toolkits": {"leaky": "leaky_kit:kit"}}, files)
    env = {
        "CNRY_ENV": CANARIES["CNRY_ENV"],
        "CNRY_FILE_FILE": str(folder / "file"),
        "LEAKY_TOKEN": CANARIES["token"],
        "RING_VALUE": CANARIES["CNRY_RING"],
        "PYTHON_KEYRING_BACKEND": "canary_ring.Ring",
        "PYTHONIOENCODING": "utf-8",
    }
    return Place(folder, site, env)


def leaks(told: str) -> Iterator[str]:
    """Where a canary is told, as it is or as libraries write it."""
    marks = {MARK}
    for value in CANARIES.values():
        marks |= {
            base64.b64encode(b"me:" + value.encode()).decode()[12:40],
            base64.b64encode(value.encode()).decode()[:28],
        }
    known = told.replace("cnry_", "").replace("canary", "")  # names are no secrets
    for mark in marks:
        at = known.find(mark)
        if at >= 0:
            yield known[max(0, at - 200) : at + 200]


async def talk(wire: Wire, revision: str) -> list[Any]:
    """Everything that a client is told by a host over its streams."""
    modern = revision == MODERN[-1]
    if not modern:
        await wire.initialize(revision)
    told = [await wire.request("tools/list", {}, modern=modern)]
    for name in TOOLS:
        for arguments in ({}, {"wrong": 1}):
            meta = {"progressToken": name, "io.modelcontextprotocol/logLevel": "debug"}
            params = {"name": f"leaky_{name}", "arguments": arguments, "_meta": meta}
            told.append(await wire.request("tools/call", params, modern=modern))
    uris = ("leaky://purpose", "leaky://accident")
    told += [await wire.request("resources/read", {"uri": uri}, modern=modern) for uri in uris]
    told.append(await wire.request("prompts/get", {"name": "leaky_ask"}, modern=modern))
    notifications = await wire.settle()
    assert {one["method"] for one in notifications} == {"notifications/message", "notifications/progress"}
    return [*told, *notifications]


@pytest.mark.requirement("UTIL-21")
@pytest.mark.parametrize(
    ("revision", "exposure"), [(LEGACY[-1], {}), (MODERN[-1], {}), (MODERN[-1], EXPOSED)], ids=["old", "new", "exposed"]
)
async def test_no_canary_is_told_over_streams(place: Place, revision: str, exposure: dict[str, str]) -> None:
    async with Wire(site=place.site, cwd=place.folder, env={**place.env, **exposure}, arguments=["-vv"]) as wire:
        told = json.dumps(await talk(wire, revision), ensure_ascii=False)
    assert "**********" in told
    assert ("[DEBUG] stacktrace:" in told) == bool(exposure)
    assert list(leaks(told)) == []
    assert wire.stderr.count("**********") > len(TOOLS)
    assert re.search(r"ERROR leaky \[.*]: all of it: \*{10}", wire.stderr)
    assert list(leaks(wire.stderr)) == []


async def test_no_canary_is_told_over_http(place: Place) -> None:
    told: list[Any] = []
    command = (PEGBOARD, "serve", "-vv")
    config = CONFIG.replace("[plugins.secrets_files]", "[plugins.http]\nport = 0\n\n[plugins.secrets_files]")
    async with Served(place.site, config, env=place.env, cwd=place.folder, command=command, operator=True) as served:
        session = Session(served)
        await session.open()
        for name in TOOLS:
            told.append((await ask(served, call(f"leaky_{name}"))).answer)
            told.append((await session.post(call(f"leaky_{name}"))).answer)
    text = " ".join(f"{answer.fields} {answer.body.decode()}" for answer in told)
    assert "**********" in text
    assert list(leaks(text)) == []
    assert list(leaks(served.stderr)) == []


@pytest.mark.parametrize("brought", [False, True], ids=["the host's", "the request's own"])
@pytest.mark.parametrize("exposed", [False, True], ids=["", "exposed"])
async def test_no_canary_is_told_by_the_worker(place: Place, *, exposed: bool, brought: bool) -> None:
    command = (PEGBOARD, "serve", "-vv")
    http = f"[plugins.http]\nport = 0\n\n[plugins.worker]\nexpose_internals = {str(exposed).lower()}\n\n"
    config = CONFIG.replace("[plugins.secrets_files]", f"{http}[plugins.secrets_files]")
    secrets = [{"key": name, "value": CANARIES[name].replace("7f3a", "9c1b")} for name in leaky_kit.SECRETS]
    env = {**place.env, "ARCADE_WORKER_SECRET": SECRET}
    told = []
    async with Served(place.site, config, env=env, cwd=place.folder, command=command) as served:
        engine = Engine(served, f"Bearer {token()}")
        for name in TOOLS:
            for inputs in ({}, {"wrong": 1}):
                context = {"secrets": secrets} if brought else {}
                told.append(await engine.invoke(name, inputs, toolkit="leaky", context=context))
        told += [
            await engine.ask("POST", "resources/read", {"uri": f"leaky://{one}"}) for one in ("purpose", "accident")
        ]
        told.append(await engine.ask("GET", "tools"))
    text = json.dumps(told, ensure_ascii=False)
    assert "**********" in text
    assert ("Traceback" in text) is exposed
    for said in (text, served.stderr):
        assert list(leaks(said)) == []
        assert SECRET not in said
    assert served.stderr.count("**********") > len(TOOLS)


COMMANDS = [
    *(["call", f"leaky_{name}"] for name in ("accident", "purpose", "status", "worded", "logged", "printed")),
    ["list"], ["show", "leaky_accident"], ["plugins"], ["why", "leaky"], ["why", "leaky_undecided"],
    ["config", "check"], ["config", "show"],
]  # fmt: skip


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_no_canary_is_told_by_a_command(place: Place, as_json: bool) -> None:
    told = ""
    for command in COMMANDS:
        done = subprocess.run(
            [PEGBOARD, *command, "--config", "hostconfig.toml", "-vv", *(["--json"] if as_json else [])],
            cwd=place.folder,
            env=client_environment(place.folder, {**place.env, "PYTHONPATH": str(place.site)}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        told += f"$ {command}\n{done.stdout.decode()}\n{done.stderr.decode()}\n"
    assert "its `enabled` function raised ValueError: cannot decide with **********" in told
    assert list(leaks(told)) == []


async def test_a_tool_may_give_its_secret_as_a_result(place: Place) -> None:
    """That is its author's business; and it shows that the canaries are there."""
    (place.site / "leaky_kit.py").write_text(
        inspect.getsource(leaky_kit).replace('return "logged"', "return everything(context)"), "utf-8"
    )
    async with Wire(site=place.site, cwd=place.folder, env=place.env) as wire:
        await wire.initialize()
        result = await wire.call("leaky_logged")
    given = result["content"][0]["text"]
    assert all(value in given for name, value in CANARIES.items() if name != "userinfo")
    assert f"{MARK}-in-the-address" in given
