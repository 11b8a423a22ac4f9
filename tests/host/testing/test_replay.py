"""A tool that asks runs again with each answer: repeated effects are found and named with their lines."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard import Context, Toolkit
from pegboard.testing import RepeatedEffects, connect, effect
from tests.structure.test_light_imports import loaded_by

Do = Callable[[Context], Awaitable[Any]]


def asking(do: Do, after: Do | None = None) -> Toolkit:
    """A tool that does something, asks, does something else, and asks again."""
    kit = Toolkit("asks")

    @kit.tool
    async def both(context: Context) -> str:
        """Do and ask."""
        await do(context)
        await context.ui.elicit("first", str)
        if after is not None:
            await after(context)
        await context.ui.elicit("second", str)
        return "done"

    return kit


async def refused(do: Do, after: Do | None = None, **options: Any) -> RepeatedEffects:
    """What a call of it is refused with."""
    with pytest.raises(RepeatedEffects) as caught:
        await accepted(do, after, **options)
    assert "move it into a step, `await context.once" in str(caught.value)
    return caught.value


async def accepted(do: Do, after: Do | None = None, **options: Any) -> None:
    """A call of it that goes well."""
    async with connect(asking(do, after), answers=["a", "b"], **options) as client:
        assert (await client.call("both")).value == "done"


async def nothing(context: Context) -> None:
    """Do nothing."""


def place_of(error: RepeatedEffects, place: int = -1) -> tuple[str, str]:
    found = error.effects[0].places[place]
    return Path(found.file).name, found.function.rpartition(".")[2]


# --- which effects


@pytest_asyncio.fixture
async def port() -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


def write(path: Path) -> None:
    path.write_text("x")


def low(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def folders(path: Path) -> None:
    path.mkdir()
    path.rmdir()
    tempfile.mkdtemp(dir=path.parent)


def links(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere")
    path.with_name("hard").unlink(missing_ok=True)
    path.with_name("hard").hardlink_to(path.with_name("from"))


def change(path: Path) -> None:
    file = path.with_name("from")
    file.chmod(0o600)
    os.truncate(os.fsencode(file), 0)
    os.utime(file)
    file.rename(path)
    path.rename(file)


def database(path: Path) -> None:
    sqlite3.connect(path).close()


def processes(path: Path) -> None:
    subprocess.run(["true"], check=True)
    os.system("true")
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    os.kill(os.getpid(), 0)


def fork(path: Path) -> None:
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)


def datagrams(path: Path) -> None:
    one, other = socket.socketpair(type=socket.SOCK_DGRAM)
    with one, other, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as third:
        third.sendto(b"x", ("127.0.0.1", 9))
        one.sendmsg([b"x"])


def harmless(text: str) -> None:
    Path(os.devnull).write_text(text)
    sqlite3.connect(":memory:").close()


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (write, {"open": "/it"}),
        (low, {"open": "/it"}),
        (folders, {"os.mkdir": "/(it|tmp.*)", "os.rmdir": "/it"}),
        (links, {"os.symlink": "nowhere -> .*/it", "os.remove": "/(it|hard)", "os.link": "/from -> .*/hard"}),
        (
            change,
            {
                "os.chmod": "/from",
                "os.truncate": "/from",
                "os.utime": "/from",
                "os.rename": "/(it|from) -> /.*(it|from)",
            },
        ),
        (database, {"sqlite3.connect": "/it"}),
        (
            processes,
            {"subprocess.Popen": "true", "os.system": "true", "os.posix_spawn": "/bin/true", "os.kill": r"\d+"},
        ),
        (fork, {"os.fork": ""}),
        (datagrams, {"socket.sendto": ".*127.*", "socket.sendmsg": "None"}),
    ],
)
async def test_a_repeated_effect_is_found(tmp_path: Path, act: Callable[[Path], None], found: dict[str, str]) -> None:
    (tmp_path / "from").touch()
    tempfile.gettempdir()  # it tries folders out the first time

    async def do(context: Context) -> None:
        act(tmp_path / "it")

    error = await refused(do)
    assert error.name == "asks_both"
    assert {one.kind for one in error.effects} == found.keys()
    for one in error.effects:
        assert re.search(f"{found[one.kind]}$", one.what)
        assert f"{one}\n" in str(error)
        own, outermost = one.places[-1], one.places[0]
        assert (own.function, outermost.function.rpartition(".")[2]) == (act.__name__, "both")
        assert f"test_replay.py:{own.line} in {act.__name__}" in str(error)
        assert 0 < own.line - act.__code__.co_firstlineno < 9


async def test_a_connection_and_a_process_of_asyncio_are_found(port: int) -> None:
    async def do(context: Context) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()

        await (await asyncio.create_subprocess_exec("true")).wait()

    error = await refused(do)
    assert [one.kind for one in error.effects] == ["socket.connect", "subprocess.Popen"]
    assert str(port) in error.effects[0].what
    assert place_of(error) == ("test_replay.py", "do")
    await accepted(do, repeats=["socket.*", "subprocess.*"])


async def test_a_request_on_a_kept_connection_is_found() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/charge"

    async def do(context: Context) -> None:
        await asyncio.to_thread(lambda: urllib.request.urlopen(url, b"{}").close())

    try:
        error = await refused(do)
    finally:
        server.shutdown()
        server.server_close()
    assert ("http.client.send", "POST /charge") in [(one.kind, one.what) for one in error.effects]


@pytest.mark.parametrize("waits", [True, False])
async def test_an_effect_in_a_library_thread_is_found_where_it_is_awaited(tmp_path: Path, *, waits: bool) -> None:
    async def do(context: Context) -> None:
        gate, loop = threading.Event(), asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as threads:
            if waits:
                threads.submit(gate.wait)
                loop.call_soon(gate.set)  # not before this waits
                await loop.run_in_executor(threads, copy_context().run, (tmp_path / "it").write_text, "x")
            else:
                threads.submit(copy_context().run, (tmp_path / "it").write_text, "x").result()

    error = await refused(do)
    assert place_of(error) == ("test_replay.py", "do")
    assert place_of(error, 0) == ("test_replay.py", "both")


async def test_an_effect_of_a_task_is_found(tmp_path: Path) -> None:
    async def part() -> None:
        write(tmp_path / "it")

    async def do(context: Context) -> None:
        await asyncio.create_task(part())

    assert place_of(await refused(do), 0) == ("test_replay.py", "part")


async def test_a_fake_reports_its_effect() -> None:
    charged: list[int] = []

    class Bank:
        async def charge(self, amount: int) -> None:
            effect(f"charge {amount}")
            charged.append(amount)

    async def do(context: Context) -> None:
        await Bank().charge(5)

    error = await refused(do)
    assert str(error.effects[0]) == "effect charge 5"
    assert [one.function.rpartition(".")[2] for one in error.effects[0].places] == ["both", "do", "charge"]
    effect("outside of any call")


async def test_an_effect_of_a_called_tool_is_found(tmp_path: Path) -> None:
    async def do(context: Context) -> None:
        await context.tools.call("asks_save", {})

    kit = asking(do)

    @kit.tool
    def save() -> str:
        """Save."""
        write(tmp_path / "it")
        return "saved"

    async with connect(kit, answers=["a", "b"]) as client:
        with pytest.raises(RepeatedEffects) as caught:
            await client.call("both")
        assert (await client.call("save")).value == "saved"
    assert place_of(caught.value, 0) == ("test_replay.py", "save")


# --- permitted effects


async def test_a_step_may_do_anything(tmp_path: Path) -> None:
    async def slowly() -> None:
        await asyncio.to_thread(write, tmp_path / "it")

    async def do(context: Context) -> None:
        await context.once("sync", lambda: write(tmp_path / "it"))
        await context.once("async", slowly)

    await accepted(do)


async def test_effects_between_questions_count_and_later_ones_do_not(tmp_path: Path) -> None:
    async def do(context: Context) -> None:
        write(tmp_path / "it")

    assert place_of(await refused(nothing, do), 0) == ("test_replay.py", "both")
    kit = Toolkit("asks")

    @kit.tool
    async def late(context: Context) -> str:
        """Ask and do."""
        answer = await context.ui.elicit("first", str)
        write(tmp_path / "it")
        return str(answer.content)

    async with connect(kit, answers=["a"]) as client:
        assert (await client.call("late")).value == "a"


async def test_reading_and_importing_are_no_effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    names = iter(["fresh_one", "fresh_two", "fresh_three"])

    async def do(context: Context) -> None:
        name = next(names)
        (tmp_path / f"{name}.py").read_text()
        harmless(str(import_module(name)))

    for name in ("fresh_one", "fresh_two", "fresh_three"):
        (tmp_path / f"{name}.py").write_text("")
    await accepted(do)
    assert len(list((tmp_path / "__pycache__").iterdir())) == 3


async def test_a_task_of_an_earlier_round_does_not_count(tmp_path: Path) -> None:
    second = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def later() -> None:
        for _ in range(2):
            write(tmp_path / "it")
            await second.wait()

    async def do(context: Context) -> None:
        if tasks:
            second.set()
            await tasks[0]
        else:
            tasks.append(asyncio.create_task(later()))
            await asyncio.sleep(0)

    await accepted(do)


async def test_repeats_and_sessions_permit_effects(tmp_path: Path) -> None:
    async def do(context: Context) -> None:
        write(tmp_path / "it")
        effect("charge")

    assert [one.kind for one in (await refused(do, repeats=["open"])).effects] == ["effect"]
    assert [one.kind for one in (await refused(do, repeats=["effect"])).effects] == ["open"]
    await accepted(do, repeats=["*"])
    await accepted(do, revision="2025-11-25")


async def test_resources_and_prompts_are_watched(tmp_path: Path) -> None:
    kit = Toolkit("asks")

    @kit.resource("asks://card", mime_type="text/plain")
    async def card(context: Context) -> str:
        """A card."""
        write(tmp_path / "it")
        return str((await context.ui.elicit("Name?", str)).content)

    @kit.prompt
    async def greet(context: Context) -> str:
        """Greet."""
        write(tmp_path / "it")
        return str((await context.ui.elicit("Name?", str)).content)

    async with connect(kit, answers=["Ada", "Bob"]) as client:
        with pytest.raises(RepeatedEffects, match="asks://card runs again"):
            await client.read("asks://card")
        with pytest.raises(RepeatedEffects, match="asks_greet runs again"):
            await client.prompt("greet")


def test_the_audit_hook_is_set_for_tools_that_can_ask_only() -> None:
    script = """
from pegboard import Toolkit
from pegboard.testing import connect
kit = Toolkit("t")
@kit.tool
async def plain() -> str:
    "Ask nothing."
    return ""
with connect(kit) as client:
    client.call("plain")
from pegboard.testing.effects import _install
assert not _install.cache_info().currsize
"""
    assert loaded_by(script)
