"""One JSON line for each call: caller, name, digest of arguments, and outcome."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pegboard import Host, MCPError, RetryableToolError, Toolkit
from pegboard.config.state import StateFiles
from pegboard.types import Call, Caller, CallNext, Client, Failure, Outcome
from pegboard_plugins.operation.audit import KEY_FILE, AuditPlugin
from pegboard_plugins.support.refusal_log import fingerprint
from tests.host.hosting import Waiting, call, cancel, kit_of, make_host, plugin_of, until

CANARY = "canary-7f3a91"
ALICE = Caller("alice", scopes=frozenset(("read",)), client_id="agent", issuer="https://login.example")


def make_kit(ran: list[int] | None = None, waiting: Waiting | None = None) -> Toolkit:
    async def work(text: str = "") -> str:
        if ran is not None:
            ran.append(1)
        return CANARY

    kit = kit_of(work)
    kit.tool(name="wait", description="Wait without end.")(waiting or Waiting())
    kit.resource("x://it")(lambda: CANARY)
    return kit


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def text_of(file: Path) -> str:
    return file.read_text()


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@asynccontextmanager
async def audited(
    file: Path, kit: Toolkit | None = None, plugins: Mapping[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Host]:
    config = {"host": {"middleware": list(plugins or {})}, "plugins": {"the_audit": {"file": str(file), **settings}}}
    running = {"the_audit": AuditPlugin, **(plugins or {})}
    async with make_host(kit or make_kit(), plugins=running, config=config) as host:
        yield host


async def refuse_too_many(call: Call, call_next: CallNext) -> Outcome:
    error = RetryableToolError("Too many calls.")
    error.status_code = 429
    raise error


async def test_a_line_has_the_facts_of_a_call_without_arguments_and_result(file: Path) -> None:
    about = {"client": Client("Inspector", "1.0"), "request_id": 7, "session_id": "s" * 32, "peer": "10.0.0.5"}
    async with audited(file) as host:
        await call(host, "work", {"text": CANARY}, caller=ALICE, **about)
    (line,) = lines_of(file)
    assert line.pop("time").endswith("Z")
    assert line.pop("duration_ms") >= 0
    assert len(line.pop("arguments_digest")) == 64
    assert line == {
        "method": "tools/call",
        "name": "work",
        "request_id": 7,
        "session": fingerprint("s" * 32),
        "peer": "10.0.0.5",
        "caller": {"subject": "alice", "client_id": "agent", "issuer": "https://login.example", "trusted": False},
        "client": "Inspector 1.0",
        "outcome": "ok",
    }
    assert CANARY not in text_of(file)
    assert mode_of(file) == 0o600


@pytest.mark.parametrize(
    ("dispatched", "middleware", "outcome", "error"),
    [
        (Call("tools/call", {"name": "x_none"}), None, "refused", "NotFoundError"),
        (Call("tools/call", {"name": "work", "arguments": {"no": 1}}), None, "error", "TOOL_RUNTIME_BAD_INPUT_VALUE"),
        (Call("tools/call", {"name": "work"}), refuse_too_many, "refused", "TOOL_RUNTIME_RETRY"),
        (Call("resources/read", {"uri": "x://it"}), None, "ok", None),
    ],
    ids=["unknown tool", "wrong arguments", "rate", "resource"],
)
async def test_each_outcome_is_recorded(
    file: Path, dispatched: Call, middleware: Any, outcome: str, error: str | None
) -> None:
    plugins = {"a": plugin_of(middleware=[middleware])} if middleware else {}
    async with audited(file, plugins=plugins) as host:
        await host.dispatch(dispatched)
    (line,) = lines_of(file)
    assert (line["outcome"], line.get("error")) == (outcome, error)
    assert line["name"] == dispatched.params.get("name", dispatched.params.get("uri"))
    assert CANARY not in text_of(file)


async def test_a_cancelled_call_is_recorded(file: Path) -> None:
    waiting = Waiting()
    async with audited(file, make_kit(waiting=waiting)) as host:
        await cancel(call(host, "wait"), waiting)
    assert [line["outcome"] for line in lines_of(file)] == ["cancelled"]


async def test_digests_depend_on_arguments_and_key(file: Path, state: Path) -> None:
    all_settings: list[dict[str, Any]] = [{}, {}, {"key": "k" * 32}]
    for settings in all_settings:
        async with audited(file, **settings) as host:
            for text in ("a", "b"):
                await call(host, "work", {"text": text})
    (a, b), (again, _), (other, _) = zip(*[iter(line["arguments_digest"] for line in lines_of(file))] * 2, strict=True)
    assert a == again
    assert len({a, b, other}) == 3
    assert mode_of(state / KEY_FILE) == 0o600


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("damaged", [b"", b"\xff" * 64])
async def test_a_damaged_key_is_refused(file: Path, damaged: bytes) -> None:
    """With a key that others can guess, they could guess the arguments of calls."""
    StateFiles(os.environ).create(KEY_FILE, damaged)
    with pytest.raises(MCPError, match=r"audit\.key in the state directory is damaged: restore it, or remove it"):
        async with audited(file):
            pass


async def test_strings_of_clients_are_cut_and_printable(file: Path) -> None:
    hostile = "a\x1b[2J\x9b2J\x85b\u2028c\u202e"
    async with audited(file) as host:
        await call(host, "work", request_id=hostile, client=Client(hostile, "1.0"))
        await call(host, "x\n{}\x1b" + "y" * 5000, request_id="z" * 5000)
    first, second = lines_of(file)
    assert (first["request_id"], first["client"]) == (hostile, f"{hostile} 1.0")
    assert second["request_id"].endswith("zzz...")
    text = text_of(file)
    assert len(text) < 2000
    assert text.replace("\n", "").isprintable()


def fill(file: Path) -> Callable[[], None]:
    """Replace a file by a full device. Return a function that restores it."""
    file.unlink(missing_ok=True)
    file.symlink_to("/dev/full")
    return file.unlink


@pytest.mark.parametrize("sync", [False, True])
async def test_on_a_full_disk_calls_go_on_and_so_many_lines_are_kept(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    monkeypatch.setattr("pegboard_plugins.operation.audit.MAX_KEPT_LINES", 3)
    async with audited(file, sync=sync) as host:
        for calls in (2, 5):
            mend = fill(file)
            for _ in range(calls):
                assert not isinstance(await call(host, "work"), Failure)
            mend()
            await call(host, "work")
            assert len(lines_of(file)) == 3
    lines = [record.getMessage() for record in caplog.records if record.name == "pegboard.plugins.audit"]
    assert lines == [
        "the audit file cannot be written: No space left on device",
        "the audit file can be written again: 0 lines were lost",
        "the audit file cannot be written: No space left on device",
        "the audit file can be written again: 3 lines were lost",
    ]


async def test_required_records_refuse_calls_on_a_full_disk(file: Path) -> None:
    ran: list[int] = []
    async with audited(file, make_kit(ran), required=True) as host:
        mend = fill(file)
        first, second = [await call(host, "work") for _ in range(2)]
        assert (isinstance(first, Failure), isinstance(second, Failure), len(ran)) == (True, True, 1)
        assert "Its result is withheld" in str(first)
        assert "refuses calls" in str(second)
        mend()
        assert not isinstance(await call(host, "work"), Failure)
    assert [line["outcome"] for line in lines_of(file)] == ["ok", "ok"]


async def test_a_call_does_not_wait_for_the_line_of_another(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    is_synced = Event()
    async with audited(file, make_kit(ran), required=True, sync=True) as host:
        monkeypatch.setattr(os, "fsync", lambda _: is_synced.wait(1))
        first = asyncio.ensure_future(call(host, "work"))
        await until(lambda: len(lines_of(file)) == 1)
        second = asyncio.ensure_future(call(host, "work"))
        await until(lambda: len(ran) == 2)
        assert not first.done()
        is_synced.set()
        assert not any(isinstance(outcome, Failure) for outcome in await asyncio.gather(first, second))
    assert [record for record in caplog.records if record.name == "pegboard.plugins.audit"] == []
