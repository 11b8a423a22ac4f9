"""Canaries in every place that a secret can come from: only the result of a tool may show one."""

from __future__ import annotations

import base64
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pegboard_plugins.errors.debug_errors import ACKNOWLEDGEMENT, VARIABLES
from tests.plugins.protocols.worker.conftest import SECRET, Engine, token
from tests.secrecy import leaky_kit, ring
from tests.support.distributions import make_distribution
from tests.support.forks import forks
from tests.support.http import Served
from tests.support.http_mcp import Session, ask, call
from tests.support.pool import TOOLKITS
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
TOOLS = [*leaky_kit.ERRORS, "status", "misfit", "logged"]
EXPOSED = dict.fromkeys(VARIABLES.values(), ACKNOWLEDGEMENT)
"""The variables that show details for the log to models."""


class Place(NamedTuple):
    """A folder in which a host runs, its distributions and its variables."""

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


def leaks(text: str) -> Iterator[str]:
    """Yield the places where a canary is shown, unchanged or as libraries write it."""
    marks = {MARK}
    for value in CANARIES.values():
        marks |= {
            base64.b64encode(b"me:" + value.encode()).decode()[12:40],
            base64.b64encode(value.encode()).decode()[:28],
        }
    known = text.replace("cnry_", "").replace("canary", "")  # names are no secrets
    for mark in marks:
        at = known.find(mark)
        if at >= 0:
            yield known[max(0, at - 200) : at + 200]


@pytest.mark.requirement("UTIL-21")
@pytest.mark.parametrize(("modern", "exposure"), [(False, {}), (True, EXPOSED)], ids=["session", "exposed"])
async def test_only_a_result_shows_canaries_over_streams(place: Place, modern: bool, exposure: dict[str, str]) -> None:
    meta = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        *(
            ("tools/call", {"name": f"leaky_{name}", "arguments": arguments, "_meta": meta})
            for name in TOOLS
            for arguments in ({}, {"wrong": 1})
        ),
        *(("resources/read", {"uri": f"leaky://{path}"}) for path in ("purpose", "accident")),
        ("prompts/get", {"name": "leaky_ask"}),
    ]
    async with Wire(site=place.site, cwd=place.folder, env={**place.env, **exposure}, arguments=["-vv"]) as wire:
        wire.modern = modern
        if not modern:
            await wire.initialize()
        received = [await wire.request(method, params) for method, params in requests]
        notifications = await wire.settle()
        result = await wire.result("tools/call", {"name": "leaky_returned"})
    assert {one["method"] for one in notifications} == {"notifications/message", "notifications/progress"}
    text = json.dumps([*received, *notifications], ensure_ascii=False)
    assert "**********" in text
    assert ("[DEBUG] stacktrace:" in text) == bool(exposure)
    assert list(leaks(text)) == []
    assert wire.stderr.count("**********") > len(TOOLS)
    assert re.search(r"ERROR leaky \[.*]: all of it: \*{10}", wire.stderr)
    assert list(leaks(wire.stderr)) == []
    given = result["content"][0]["text"]
    assert all(value in given for name, value in CANARIES.items() if name != "userinfo")
    assert f"{MARK}-in-the-address" in given


@pytest.mark.parametrize("exposed", [False, True], ids=["", "exposed"])
async def test_no_canary_is_shown_over_http_and_by_the_worker(place: Place, exposed: bool) -> None:
    command = (PEGBOARD, "serve", "-vv")
    http = f"[plugins.http]\nport = 0\n\n[plugins.worker]\nexpose_internals = {str(exposed).lower()}\n\n"
    config = CONFIG.replace("[plugins.secrets_files]", f"{http}[plugins.secrets_files]")
    brought = [{"key": name, "value": CANARIES[name].replace("7f3a", "9c1b")} for name in leaky_kit.SECRETS]
    env = {**place.env, "ARCADE_WORKER_SECRET": SECRET}
    async with Served(place.site, config, env=env, cwd=place.folder, command=command, operator=True) as served:
        session = Session(served)
        await session.open()
        answers = [
            came.answer
            for name in TOOLS
            for came in (await ask(served, call(f"leaky_{name}")), await session.post(call(f"leaky_{name}")))
        ]
        of_mcp = " ".join(f"{answer.fields} {answer.body.decode()}" for answer in answers)
        engine = Engine(served, f"Bearer {token()}")
        received = [
            await engine.invoke(name, inputs, toolkit="leaky", context=context)
            for name in TOOLS
            for inputs in ({}, {"wrong": 1})
            for context in ({}, {"secrets": brought})
        ]
        uris = ("leaky://purpose", "leaky://accident")
        received += [await engine.ask("POST", "resources/read", {"uri": uri}) for uri in uris]
        received.append(await engine.ask("GET", "tools"))
    of_worker = json.dumps(received, ensure_ascii=False)
    assert ("Traceback" in of_worker) is exposed
    for text in (of_mcp, of_worker, served.stderr):
        assert text.count("**********") > len(TOOLS) / 2
        assert list(leaks(text)) == []
        assert SECRET not in text


@pytest.mark.needs("tool_commands", "why")
@pytest.mark.parametrize("verbose", [[], ["-vv"]], ids=["", "verbose"])
def test_no_canary_is_shown_by_a_command(place: Place, verbose: list[str]) -> None:
    commands = [
        *(f"call leaky_{name}" for name in [*TOOLS, "threaded"]), "call leaky_accident --json",
        "list --json", "plugins", "why leaky_undecided", "config check", "config show --json",
    ]  # fmt: skip
    env = client_environment(place.folder, {**place.env, "PYTHONPATH": str(place.site)})
    shown = ""
    for command in commands:
        done = forks().run([*command.split(), "--config", "hostconfig.toml", *verbose], place.folder, env)
        shown += f"$ {command}\n{done.out}\n{done.err}\n"
    assert "its `enabled` function raised ValueError: cannot decide with **********" in shown
    assert list(leaks(shown)) == []
