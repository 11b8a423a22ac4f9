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

from pegboard.plugin import ConfigError, ProtocolError
from pegboard.testing import TestClient, connect
from toolkit_files import kit, tools
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


async def test_reading_tools_are_offered_and_writing_ones_only_when_configured(root: Path) -> None:
    async with running(root) as files:
        assert set(await files.tools()) == READERS
        for tool in WRITERS:
            with pytest.raises(ProtocolError, match="Unknown tool"):
                await files.client.call(tool)
    async with running(root, write=True) as files:
        assert set(await files.tools()) == READERS | WRITERS


async def test_every_tool_says_what_it_does(root: Path) -> None:
    async with running(root, write=True) as files:
        for name, tool in (await files.tools()).items():
            hints = tool["annotations"]
            assert (hints["readOnlyHint"], hints["openWorldHint"]) == (name in READERS, False)
            if name in WRITERS:
                assert hints["destructiveHint"] is (name != "make_directory")
                assert hints["idempotentHint"] is (name == "make_directory")
            assert tool["title"]
            assert 30 < len(tool["description"]) < 140
            for parameter, schema in tool["inputSchema"]["properties"].items():
                assert "description" in schema or parameter == "ignore_case"
            assert ("outputSchema" in tool) == (name != "read")


async def test_a_day_with_the_reading_tools(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src/main.py").write_text("import sys\n\n\ndef main():\n    return sys.argv\n")
    (root / "src/logo.png").write_bytes(b"\x89PNG\0\1\2")
    async with running(root) as files:
        assert await files.call("roots") == {"roots": [str(root)], "writable": False}
        assert [entry["path"] for entry in (await files.call("list", depth=2))["entries"]] == [
            "src",
            "src/logo.png",
            "src/main.py",
        ]
        assert (await files.call("info", path="src/logo.png"))["binary"] is True
        assert await files.call("find", pattern="*.py") == {"paths": ["src/main.py"]}
        around = {"before": [""], "after": ["    return sys.argv"]}
        assert await files.call("search", text=r"def \w+\(", regex=True, around=1) == {
            "matches": [{"path": "src/main.py", "line": 4, "text": "def main():", **around}],
            "files_searched": 2,
        }
        assert await files.call("read", path="src/main.py", start_line=4, line_numbers=True) == (
            "     4\tdef main():\n     5\t    return sys.argv\n"
        )
        rest = await files.call("read", path="src/main.py", offset=36)
        assert rest == "sys.argv\n[Bytes 36 to 45, the end of the file.]"
        assert await files.call("read_binary", path="src/logo.png", length=4) == {
            "path": "src/logo.png",
            "offset": 0,
            "length": 4,
            "size": 7,
            "data": "iVBORw==",
            "next_offset": 4,
        }


async def test_a_day_with_the_writing_tools(root: Path) -> None:
    async with running(root, write=True) as files:
        assert await files.call("make_directory", path="a/b") == {"path": "a/b", "created": True}
        assert await files.call("make_directory", path="a/b") == {"path": "a/b", "created": False}
        await files.call("write", path="a/b/c.txt", content="one\ntwo\n")
        assert "already exists" in await files.refusal("write", path="a/b/c.txt", content="")
        await files.call("write", path="a/b/c.txt", content="three\n", mode="append")
        assert await files.call("edit", path="a/b/c.txt", old_text="two", new_text="2") == {
            "path": "a/b/c.txt",
            "replacements": 1,
            "line": 2,
        }
        assert await files.call("read", path="a/b/c.txt") == "one\n2\nthree\n"
        assert (await files.call("move", source="a/b/c.txt", destination="c.txt"))["to"] == "c.txt"
        assert (await files.call("delete", path="a", recursive=True))["count"] == 2
        assert os.listdir(root) == ["c.txt"]


async def test_the_limits_are_those_of_the_settings(root: Path) -> None:
    for number in range(5):
        (root / f"{number}.txt").write_text("x\n" * 2000)
    async with running(root, max_entries=2, max_matches=3, max_read_bytes=1024) as files:
        assert len((await files.call("list"))["entries"]) == 2
        second = await files.call("list", resume=(await files.call("list"))["resume"])
        assert [entry["path"] for entry in second["entries"]] == ["2.txt", "3.txt"]
        found = await files.call("find", pattern="*.txt", resume="3.txt")
        assert found == {"paths": ["4.txt"]}
        matches = await files.call("search", text="x")
        assert [match["line"] for match in matches["matches"]] == [1, 2, 3]
        matches = await files.call("search", text="x", resume=matches["resume"])
        assert [match["line"] for match in matches["matches"]] == [4, 5, 6]
        assert (await files.call("read", path="0.txt")).endswith("Continue with start_line=513.]")
        assert (await files.call("read_binary", path="0.txt", length=5000))["length"] == 1024


async def test_one_file_is_searched_by_its_path(root: Path) -> None:
    (root / "a.txt").write_text("x\n")
    (root / "b.txt").write_text("x\n")
    (root / "c.bin").write_bytes(b"x\0")
    (root / "link").symlink_to("a.txt")
    async with running(root) as files:
        answer = await files.call("search", text="x", path="b.txt")
        assert answer["matches"] == [{"path": "b.txt", "line": 1, "text": "x"}]
        assert "not text" in await files.refusal("search", text="x", path="c.bin")
        assert "symbolic link" in await files.refusal("search", text="x", path="link")
        assert "'d.txt' does not exist" in await files.refusal("search", text="x", path="d.txt")


async def test_a_search_says_what_it_could_not_look_at(root: Path) -> None:
    (root / ("d/" * 120)).mkdir(parents=True)
    async with running(root) as files:
        assert "100 directories down" in (await files.call("search", text="x"))["note"]
        assert "100 directories down" in (await files.call("find", pattern="x"))["note"]
        assert "100 directories down" not in str(await files.call("list", depth=100))


async def test_problems_that_the_model_can_mend_say_so(root: Path) -> None:
    (root / "main.py").write_text("")
    (root / ".env").write_text("TOKEN=1")
    async with running(root) as files:
        mended = (await files.client.call("read", path="mian.py")).error
        assert mended.can_retry
        assert mended.message == "'mian.py' does not exist. Did you mean 'main.py'?"
        final = (await files.client.call("read", path=".env")).error
        assert not final.can_retry
        assert "closed to these tools" in final.message


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


@pytest.mark.parametrize("escape", ESCAPES)
async def test_no_tool_leads_out_of_the_root(root: Path, outside: Path, escape: str) -> None:
    (root / "a").mkdir()
    (root / "a/up").symlink_to("../..")
    (root / "link").symlink_to(outside)
    (root / "file_link").symlink_to(outside / "secret.txt")
    (root / "file.txt").write_text("the secret that lies inside")
    os.mkfifo(root / "pipe")
    before = snapshot(outside), snapshot(root)
    path = escape.format(root=root, outside=outside)
    async with running(root, write=True) as files:
        for tool, arguments in (
            ("list", {"path": path}),
            ("find", {"pattern": "*", "path": path}),
            ("search", {"text": "secret", "path": path}),
            ("read", {"path": path}),
            ("read", {"path": path, "offset": 0}),
            ("read_binary", {"path": path}),
            ("write", {"path": path, "content": "changed", "mode": "overwrite", "parents": False}),
            ("write", {"path": path, "content": "changed", "mode": "append"}),
            ("edit", {"path": path, "old_text": "secret", "new_text": "changed"}),
            ("move", {"source": path, "destination": "moved"}),
            ("move", {"source": "file.txt", "destination": path, "overwrite": True}),
            ("delete", {"path": path, "recursive": True}),
        ):
            message = await files.refusal(tool, **arguments)
            assert "that lies" not in message
            assert "Errno" not in message
            assert len(message) < 500
    assert (snapshot(outside), snapshot(root)) == before


@pytest.mark.parametrize("name", ["..%2foutside%2fsecret.txt", "%2e%2e%2foutside", "%00", "&#46;&#46;"])
async def test_what_is_encoded_stays_encoded(root: Path, outside: Path, name: str) -> None:
    before = snapshot(outside)
    async with running(root, write=True) as files:
        assert (await files.call("write", path=name, content="text"))["path"] == name
        assert await files.call("read", path=name) == "text"
    assert os.listdir(root) == [name]
    assert snapshot(outside) == before


async def test_a_search_of_everything_meets_nothing_outside(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    (root / "file_link").symlink_to(outside / "secret.txt")
    async with running(root) as files:
        assert (await files.call("search", text="secret", hidden=True))["matches"] == []
        assert (await files.call("find", pattern="**"))["paths"] == ["file_link", "link"]
        assert len((await files.call("list", depth=9))["entries"]) == 2


async def test_a_root_that_is_missing_is_an_error_of_the_settings(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"toolkits\.files\.roots: the root '.*/nowhere' does not exist"):
        async with running(root / "nowhere"):
            pass


async def test_two_hosts_have_roots_of_their_own(root: Path, outside: Path) -> None:
    (root / "a").write_text("first")
    async with running(root) as first, running(outside) as second:
        assert await first.call("read", path="a") == "first"
        assert "'a' does not exist" in await second.refusal("read", path="a")


@pytest.mark.usefixtures("looking_often")
async def test_a_long_search_reports_progress(root: Path) -> None:
    for number in range(6):
        (root / f"{number}").write_text("y")
    async with running(root) as files:
        await files.call("search", text="x")
    assert [told.message for told in files.client.progress] == ["4 files searched"]


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

    monkeypatch.setattr(tools, "Watch", Noticing)
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
