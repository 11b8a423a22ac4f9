"""The tools through a real host: what is offered, what comes back, and that nothing leads out of the roots."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from pegboard.plugin import ProtocolError
from pegboard_testing import TestClient, connect
from toolkit_files import kit, watch
from toolkit_files.problems import Cancelled
from toolkit_files.watch import Watch

READERS = {"roots", "list", "info", "find", "search", "read", "read_binary"}
WRITERS = {"write", "edit", "make_directory", "move", "delete"}


class Files:
    """The files tools, as a client sees them."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        result = await self.client.call(tool, **arguments)
        schema = (await self.client.tool(tool)).get("outputSchema")
        if schema is not None:
            Draft202012Validator(schema).validate(result.structured)
        return result.value

    async def refusal(self, tool: str, /, **arguments: Any) -> str:
        error = (await self.client.call(tool, **arguments)).error
        assert error.error_id is None, error
        return error.message

    async def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"].removeprefix("files_"): tool for tool in await self.client.tools()}


@asynccontextmanager
async def running(root: Path, **settings: Any) -> AsyncIterator[Files]:
    async with connect(kit, config={"roots": [str(root)], **settings}) as client:
        yield Files(client)


async def test_writing_tools_require_a_setting_and_annotations_match_the_effect(root: Path) -> None:
    async with running(root) as files:
        assert set(await files.tools()) == READERS
        with pytest.raises(ProtocolError, match="Unknown tool"):
            await files.client.call("write")
    async with running(root, write=True) as files:
        tools = await files.tools()
    assert set(tools) == READERS | WRITERS
    for name, tool in tools.items():
        hints = tool["annotations"]
        assert (hints["readOnlyHint"], hints["openWorldHint"]) == (name in READERS, False)
        assert hints.get("destructiveHint") is (name != "make_directory" if name in WRITERS else None)
        assert hints.get("idempotentHint") is (name == "make_directory" if name in WRITERS else None)
        assert 30 < len(tool["description"]) < 140


async def test_every_tool_returns_its_result(root: Path) -> None:
    (root / "main.py").write_text("import sys\n\n\ndef main():\n    return sys.argv\n")
    (root / "logo.png").write_bytes(b"\x89PNG\0\1\2")
    around = {"before": [""], "after": ["    return sys.argv"]}
    match = {"path": "main.py", "line": 4, "text": "def main():", **around}
    binary = {"path": "logo.png", "offset": 0, "length": 4, "size": 7, "data": "iVBORw==", "next_offset": 4}
    calls: list[tuple[str, dict[str, Any], Any]] = [
        ("roots", {}, {"roots": [str(root)], "writable": True}),
        ("find", {"pattern": "*.py"}, {"paths": ["main.py"]}),
        ("search", {"text": r"def \w+\(", "regex": True, "around": 1}, {"matches": [match], "files_searched": 2}),
        ("search", {"text": "def", "path": "main.py"}, {"matches": [without(match)], "files_searched": 1}),
        ("read", {"path": "main.py", "start_line": 5, "line_numbers": True}, "     5\t    return sys.argv\n"),
        ("read", {"path": "main.py", "offset": 36}, "sys.argv\n[Bytes 36 to 45, the end of the file.]"),
        ("read_binary", {"path": "logo.png", "length": 4}, binary),
        ("make_directory", {"path": "a/b"}, {"path": "a/b", "created": True}),
        ("make_directory", {"path": "a/b"}, {"path": "a/b", "created": False}),
        ("write", {"path": "a/c", "content": "one\ntwo\n"}, {"path": "a/c", "action": "created", "size": 8}),
        ("edit", {"path": "a/c", "old_text": "two", "new_text": "2"}, {"path": "a/c", "replacements": 1, "line": 2}),
        ("move", {"source": "a/c", "destination": "c"}, {"path": "a/c", "to": "c", "type": "file"}),
        ("delete", {"path": "a", "recursive": True}, {"path": "a", "type": "directory", "count": 2}),
    ]
    async with running(root, write=True) as files:
        for tool, arguments, result in calls:
            assert await files.call(tool, **arguments) == result
        assert [entry["path"] for entry in (await files.call("list"))["entries"]] == ["c", "logo.png", "main.py"]
        assert (await files.call("info", path="logo.png"))["binary"] is True
        for path, message in (("logo.png", "not text"), ("d", "'d' does not exist")):
            assert message in await files.refusal("search", text="x", path=path)
        correctable = (await files.client.call("read", path="mian.py")).error
        assert correctable.can_retry
        assert correctable.message == "'mian.py' does not exist. Did you mean 'main.py'?"
        assert "becomes too large" in await files.refusal("search", text=r"\w{100}", regex=True)


def without(match: dict[str, Any]) -> dict[str, Any]:
    return {key: match[key] for key in ("path", "line", "text")}


async def test_the_limits_are_those_of_the_settings(root: Path) -> None:
    for number in range(5):
        (root / f"{number}.txt").write_text("x\n" * 2000)
    async with running(root, max_entries=2, max_matches=3, max_read_bytes=1024) as files:
        assert len((await files.call("list"))["entries"]) == 2
        second = await files.call("list", resume=(await files.call("list"))["resume"])
        assert [entry["path"] for entry in second["entries"]] == ["2.txt", "3.txt"]
        page = await files.call("find", pattern="*.txt", resume="3.txt")
        assert page == {"paths": ["4.txt"]}
        matches = await files.call("search", text="x")
        assert [match["line"] for match in matches["matches"]] == [1, 2, 3]
        matches = await files.call("search", text="x", resume=matches["resume"])
        assert [match["line"] for match in matches["matches"]] == [4, 5, 6]
        assert (await files.call("read", path="0.txt")).endswith("Continue with start_line=513.]")
        assert (await files.call("read_binary", path="0.txt", length=5000))["length"] == 1024


async def test_directories_below_a_hundred_levels_are_reported(root: Path) -> None:
    (root / ("d/" * 120)).mkdir(parents=True)
    async with running(root, write=True) as files:
        assert "100 directories down" in (await files.call("search", text="x"))["note"]
        assert "100 directories down" in (await files.call("find", pattern="x"))["note"]
        assert "100 directories down" not in str(await files.call("list", depth=100))
        assert "nested too deeply" in await files.refusal("delete", path="d", recursive=True)
    assert (root / ("d/" * 120)).exists()


ESCAPES = [
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "{outside}/secret.txt",
    "{root}/../outside/secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "~/secret.txt",
    "~root/secret.txt",
    "link/secret.txt",
    "link",
    "file_link",
    "dangling",
    "link/new",
    "a/up/outside/secret.txt",
    "%2e%2e/outside/secret.txt",
    "..\\outside\\secret.txt",
    "\\\\outside\\secret.txt",
    "a\0/../../outside/secret.txt",
    "file://{outside}/secret.txt",
    "/proc/self/root{outside}/secret.txt",
    "\u2025/outside/secret.txt",
    "\uff0e\uff0e/outside/secret.txt",
    "pipe",
]


def snapshot(directory: Path) -> list[tuple[str, int, float]]:
    return sorted((str(path), path.lstat().st_size, path.lstat().st_mtime) for path in directory.rglob("*"))


async def test_no_tool_leads_out_of_the_root(root: Path, outside: Path) -> None:
    (root / "a").mkdir()
    (root / "a/up").symlink_to("../..")
    (root / "link").symlink_to(outside)
    (root / "file_link").symlink_to(outside / "secret.txt")
    (root / "dangling").symlink_to(outside / "new")
    (root / "file.txt").write_text("the secret that lies inside")
    os.mkfifo(root / "pipe")
    before = snapshot(outside), snapshot(root)
    async with running(root, write=True) as files:
        for path in (escape.format(root=root, outside=outside) for escape in ESCAPES):
            calls: list[tuple[str, dict[str, Any]]] = [
                ("list", {"path": path}),
                ("find", {"pattern": "*", "path": path}),
                ("search", {"text": "secret", "path": path}),
                ("read", {"path": path}),
                ("read", {"path": path, "offset": 0}),
                ("read_binary", {"path": path}),
                *(
                    ("write", {"path": path, "content": "changed", "mode": mode, "parents": False})
                    for mode in ("create", "overwrite", "append")
                ),
                ("edit", {"path": path, "old_text": "secret", "new_text": "changed"}),
                ("move", {"source": path, "destination": "moved"}),
                ("move", {"source": "file.txt", "destination": path, "overwrite": True}),
                ("delete", {"path": path, "recursive": True}),
            ]
            for tool, arguments in calls:
                message = await files.refusal(tool, **arguments)
                assert "that lies" not in message, path
                assert "Errno" not in message
                assert len(message) < 500
        assert (snapshot(outside), snapshot(root)) == before
        result = await files.call("search", text="secret", hidden=True)
        assert [match["path"] for match in result["matches"]] == ["file.txt"]
        for name in ("..%2foutside%2fsecret.txt", "%00", "&#46;&#46;"):
            assert (await files.call("write", path=name, content="text"))["path"] == name
            assert (root / name).read_text() == "text"
    assert snapshot(outside) == before[0]


@pytest.mark.usefixtures("looking_often")
async def test_a_long_search_reports_progress(root: Path) -> None:
    for number in range(6):
        (root / f"{number}").write_text("y")
    async with running(root) as files:
        await files.call("search", text="x")
    assert [report.message for report in files.client.progress] == ["4 files searched"]


class Held(NamedTuple):
    """A tool that works until it is let go on.

    Attributes:
        begun: it has begun.
        gate: lets it go on.
        ended: it has noticed that its call was cancelled.
    """

    begun: Event
    gate: Event
    ended: Event


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    events = Held(Event(), Event(), Event())

    class Noticing(Watch):
        def check(self) -> None:
            events.begun.set()
            assert events.gate.wait(5)
            try:
                super().check()
            except Cancelled:
                events.ended.set()
                raise

    monkeypatch.setattr(watch, "Watch", Noticing)
    return events


@pytest.mark.usefixtures("looking_often")
async def test_a_cancelled_search_stops(root: Path, held: Held) -> None:
    for number in range(6):
        (root / f"{number}").write_text("y")
    async with running(root) as files:
        call = asyncio.create_task(files.call("search", text="x"))
        assert await asyncio.to_thread(held.begun.wait, 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await files.client.tools()  # by now the host has heard of it
        held.gate.set()
        assert await asyncio.to_thread(held.ended.wait, 5)


async def test_what_comes_back_is_json(root: Path) -> None:
    for name in (b"a\xff", "ä\n".encode(), b"\x1b[31m"):
        (root / os.fsdecode(name)).write_bytes(b"needle \xff\n")
    async with running(root) as files:
        for tool, arguments in (("list", {}), ("find", {"pattern": "*"}), ("search", {"text": "needle"})):
            answer = await files.call(tool, **arguments)
            assert "a\\xff" in str(answer).replace("\\\\", "\\")
            assert json.dumps(answer, ensure_ascii=False).encode()
