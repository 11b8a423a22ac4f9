"""Records in memory and in SQLite: the contract, and processes that end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pegboard.plugin import PluginError, RecordStore
from pegboard_plugins.support.memory_records import MemoryRecordStore
from pegboard_plugins.support.sqlite_records import SqliteRecordStore
from pegboard_testing import RecordStoreContract, new_record

OTHER_PROCESS = """
import asyncio
from pegboard_plugins.support.sqlite_records import SqliteRecordStore
from pegboard_testing import new_record
async def main():
    async with SqliteRecordStore.opened() as store:
        await store.create(new_record(process=store.process))
        print("ready", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


class TestMemoryRecordStore(RecordStoreContract):
    def make(self) -> RecordStore:
        return MemoryRecordStore()


class TestSqliteRecordStore(RecordStoreContract):
    async def make(self) -> RecordStore:
        self.opened = AsyncExitStack()
        folder = self.opened.enter_context(TemporaryDirectory())
        return await self.opened.enter_async_context(SqliteRecordStore.opened({"PEGBOARD_STATE_DIR": folder}))

    async def dispose(self, made: RecordStore) -> None:
        await self.opened.aclose()


async def test_a_killed_process_leaves_orphans(tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path)}
    async with SqliteRecordStore.opened(environ) as store:
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", OTHER_PROCESS, env=environ, stdout=asyncio.subprocess.PIPE
        )
        assert other.stdout is not None
        assert await other.stdout.readline() == b"ready\n"
        assert not await store.orphans("kind")
        other.kill()
        await other.wait()
        [orphan] = await store.orphans("kind")
        assert orphan == await store.get("kind/a")
        assert await store.transition(orphan, orphan._replace(process=store.process))
        async with SqliteRecordStore.opened(environ) as later:
            assert not await later.orphans("kind")
            locks = set(await asyncio.to_thread(tmp_path.glob, "*.lock"))
            assert locks == {tmp_path / f"records-{process}.lock" for process in (store.process, later.process)}


async def test_records_outlive_their_process_and_are_private(tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "state")}
    async with SqliteRecordStore.opened(environ) as store:
        await store.create(new_record())
    folder = tmp_path / "state"
    async with SqliteRecordStore.opened(environ) as store:
        assert await store.get("kind/a") is not None
        modes = {path.name: path.stat().st_mode & 0o077 for path in await asyncio.to_thread(list, folder.iterdir())}
        assert {f"records-{store.process}.lock", "records.db", "records.db-wal"} <= modes.keys()
        assert not any(modes.values())
    assert not await asyncio.to_thread(list, folder.glob("*.lock*"))
    (tmp_path / "state/records.db").chmod(0o644)
    with pytest.raises(PluginError, match="chmod 600"):
        await SqliteRecordStore.opened(environ).__aenter__()


async def test_each_change_waits_for_the_disk(tmp_path: Path) -> None:
    async with SqliteRecordStore.opened({"PEGBOARD_STATE_DIR": str(tmp_path)}) as store:
        assert isinstance(store, SqliteRecordStore)
        full = 2
        assert await store._in_thread(lambda file: file.execute("PRAGMA synchronous").fetchone()) == (full,)
