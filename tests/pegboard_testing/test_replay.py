"""A tool that asks runs again with each answer: repeated effects are found and named with their lines."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import threading
import urllib.request
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from pegboard import Context, Toolkit
from pegboard_testing import RepeatedEffects, connect, effect

Do = Callable[[], Awaitable[Any]]


async def nothing() -> None:
    """Do nothing."""


def asking(do: Do, after: Do = nothing) -> Toolkit:
    """Return a toolkit with a tool that does something, asks, does something else, and asks again."""
    kit = Toolkit("asks")

    @kit.tool
    async def both(context: Context) -> str:
        """Do and ask."""
        await do()
        await context.ui.elicit("first", str)
        await after()
        await context.ui.elicit("second", str)
        return "done"

    return kit


async def assert_accepted(do: Do, after: Do = nothing, **options: Any) -> None:
    """Call the tool, which succeeds."""
    async with connect(asking(do, after), answers=["a", "b"], **options) as client:
        assert (await client.call("both")).value == "done"


async def rejected(do: Do, after: Do = nothing, **options: Any) -> RepeatedEffects:
    """Call the tool, which fails because of repeated effects. Return the error."""
    with pytest.raises(RepeatedEffects, match=r"move it into a step, `await context\.once") as caught:
        await assert_accepted(do, after, **options)
    return caught.value


def places_of(error: RepeatedEffects) -> list[str]:
    """Return the functions of the first effect, the outermost first."""
    places = error.effects[0].places
    assert {Path(place.file).name for place in places} == {Path(__file__).name}
    return [place.function.rpartition(".")[2] for place in places]


def write(path: Path) -> None:
    path.write_text("x")


def replace(path: Path) -> None:
    path.write_text("x")
    path.rename(path.with_name("that"))
    path.with_name("that").unlink()


def processes(path: Path) -> None:
    subprocess.run(["true"], check=True)
    os.kill(os.getpid(), 0)
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)


EFFECTS: dict[Callable[[Path], None], dict[str, str]] = {
    replace: {"open": "/it", "os.rename": "/it -> .*/that", "os.remove": "/that"},
    processes: {"subprocess.Popen": "true", "os.kill": r"\d+", "os.fork": ""},
}


@pytest.mark.parametrize("act", EFFECTS if hasattr(os, "fork") else [replace])
async def test_a_repeated_effect_is_found(tmp_path: Path, act: Callable[[Path], None]) -> None:
    async def do() -> None:
        act(tmp_path / "it")

    error = await rejected(do)
    patterns = EFFECTS[act]
    assert error.name == "asks_both"
    assert {entry.kind for entry in error.effects} == patterns.keys()
    for entry in error.effects:
        assert re.search(f"{patterns[entry.kind]}$", entry.what)
        assert f"{entry}\n" in str(error)
        own, outermost = entry.places[-1], entry.places[0]
        assert (own.function, outermost.function.rpartition(".")[2]) == (act.__name__, "both")
        assert f"test_replay.py:{own.line} in {act.__name__}" in str(error)
        assert 0 < own.line - act.__code__.co_firstlineno < 9


async def test_requests_over_http_are_found() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    async def post() -> None:
        url = f"http://127.0.0.1:{server.server_port}/charge"
        await asyncio.to_thread(lambda: urllib.request.urlopen(url, b"{}").close())

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        posted = await rejected(post)
    finally:
        server.shutdown()
        server.server_close()
    assert ("http.client.send", "POST /charge") in [(entry.kind, entry.what) for entry in posted.effects]


async def test_effects_of_tasks_and_fakes_are_found(tmp_path: Path) -> None:
    async def part() -> None:
        write(tmp_path / "it")

    async def in_task() -> None:
        await asyncio.create_task(part())

    async def charge() -> None:
        effect("charge 5")

    assert places_of(await rejected(in_task))[0] == "part"
    error = await rejected(charge)
    assert (str(error.effects[0]), places_of(error)) == ("effect charge 5", ["both", "charge"])
    effect("outside of any call")


async def test_steps_and_effects_after_the_last_question_are_permitted(tmp_path: Path) -> None:
    async def do() -> None:
        write(tmp_path / "it")

    assert places_of(await rejected(nothing, do))[0] == "both"
    kit = Toolkit("asks")

    @kit.tool
    async def late(context: Context) -> str:
        """Ask and do."""
        await context.once("sync", lambda: write(tmp_path / "it"))
        await context.once("async", lambda: asyncio.to_thread(write, tmp_path / "it"))
        answer = await context.ui.elicit("first", str)
        write(tmp_path / "it")
        return str(answer.content)

    async with connect(kit, answers=["a"]) as client:
        assert (await client.call("late")).value == "a"


async def test_repeats_and_sessions_permit_effects(tmp_path: Path) -> None:
    async def do() -> None:
        write(tmp_path / "it")
        effect("charge")

    assert [entry.kind for entry in (await rejected(do, repeats=["open"])).effects] == ["effect"]
    assert [entry.kind for entry in (await rejected(do, repeats=["effect"])).effects] == ["open"]
    await assert_accepted(do, repeats=["*"])
    await assert_accepted(do, revision="2025-11-25")
