"""Records in SQLite files that several processes of one machine may use (`pegboard.plugin.RecordStore`)."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import time
from typing import TypeVar

from pegboard.plugin import PluginError, Record, RecordStore, StateFiles
from pegboard_plugins.support.secret_files import create_private_file

MAX_FILE_WAIT_SECONDS = 10
"""The limit of the time in which another process may hold the file."""
_TABLES = """
CREATE TABLE IF NOT EXISTS records (
    id TEXT PRIMARY KEY, content BLOB NOT NULL, expires_at REAL NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL,
    process TEXT NOT NULL, number INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS records_by_expiry ON records (expires_at);
CREATE INDEX IF NOT EXISTS records_by_owner ON records (owner);
CREATE INDEX IF NOT EXISTS records_by_process ON records (process) WHERE process != '';
"""
_OF_KIND = "id >= ? || '/' AND id < ? || '0' AND expires_at > ?"  # "0" follows "/"

T = TypeVar("T")


class SqliteRecords(RecordStore):
    """The queries of records. Each change is a transaction of its own."""

    @abstractmethod
    async def _in_thread(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Use the file in a thread."""

    async def create(self, record: Record) -> bool:
        await self.expire()
        return await self._changed("INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?, 0)", record[:6])

    async def get(self, record_id: str) -> Record | None:
        return next(iter(await self._selected("id = ? AND expires_at > ?", (record_id, time()))), None)

    async def transition(self, expected: Record, new: Record) -> bool:
        statement = """
            UPDATE records SET content = ?, expires_at = ?, state = ?, process = ?, number = number + 1
            WHERE id = ? AND number = ? AND expires_at > ?
        """
        values = (new.content, new.expires_at, new.state, new.process, expected.id, expected.number, time())
        return await self._changed(statement, values)

    async def delete(self, record_id: str) -> bool:
        return await self._changed("DELETE FROM records WHERE id = ? AND expires_at > ?", (record_id, time()))

    async def count(self, owner: str) -> int:
        query = "SELECT count(*) FROM records WHERE owner = ? AND expires_at > ?"
        number: int = await self._in_thread(lambda file: file.execute(query, (owner, time())).fetchone()[0])
        return number

    async def find(self, kind: str) -> Sequence[Record]:
        return await self._selected(_OF_KIND, (kind, kind, time()))

    async def expire(self) -> None:
        await self._changed("DELETE FROM records WHERE expires_at <= ?", (time(),))

    async def _selected(self, condition: str, values: Iterable[object]) -> list[Record]:
        query = f"SELECT * FROM records WHERE {condition}"  # noqa: S608 - the condition is one of this module
        rows = await self._in_thread(lambda file: file.execute(query, tuple(values)).fetchall())
        return [Record(*row) for row in rows]

    async def _changed(self, statement: str, values: Iterable[object]) -> bool:
        return await self._in_thread(lambda file: file.execute(statement, tuple(values)).rowcount > 0)


class SqliteRecordStore(SqliteRecords):
    """The records in `records.db`, with the processes that work on them. `opened` makes an object.

    Each process holds the lock of a file of its own. The system releases the lock when the process ends, however it
    ends.

    Args:
        folder: the folder of the file.
        process: the name of this process, whose lock is held.
        file: the open file.
    """

    def __init__(self, folder: Path, process: str, file: sqlite3.Connection) -> None:
        self.process = process
        self._folder = folder
        self._file = file
        self._thread = ThreadPoolExecutor(1, "pegboard-records")  # a connection serves one thread at a time

    @classmethod
    @asynccontextmanager
    async def opened(cls, environ: Mapping[str, str] = os.environ) -> AsyncIterator[RecordStore]:
        """Open the file in the state directory, and close it at the end.

        Raises:
            PluginError: there is no state directory, or other users can read the file.
            OSError, sqlite3.Error: the file cannot be used.
        """
        folder = StateFiles(environ).directory
        if folder is None:
            raise PluginError("there is no state directory for records: set HOME or PEGBOARD_STATE_DIR")
        process = f"{os.getpid()}-{token_hex(8)}"
        with closing(_open(folder)) as file:
            file.execute("BEGIN IMMEDIATE")
            with _held_lock(_lock_path(folder, process)):
                named = {name for (name,) in file.execute("SELECT DISTINCT process FROM records")}
                _remove_locks(folder, process, named)
                file.execute("COMMIT")
                store = cls(folder, process, file)
                try:
                    yield store
                finally:
                    await asyncio.to_thread(store._thread.shutdown)

    async def orphans(self, kind: str) -> Sequence[Record]:
        """Return the records of a kind whose process does not hold its lock."""
        records = await self._selected(f"process NOT IN ('', ?) AND {_OF_KIND}", (self.process, kind, kind, time()))
        names = {record.process for record in records}
        ended = await self._in_thread(lambda file: {name for name in names if _has_ended(self._folder, name)})
        return [record for record in records if record.process in ended]

    async def _in_thread(self, use: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(use, self._file))


def _open(folder: Path) -> sqlite3.Connection:
    path = folder / "records.db"
    create_private_file(path, PluginError)
    file = sqlite3.connect(path, timeout=MAX_FILE_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):  # each change waits for the disk
        file.execute(statement)
    file.executescript(_TABLES)
    return file


def _lock_path(folder: Path, process: str) -> Path:
    return folder / f"records-{process}.lock"


@contextmanager
def _held_lock(path: Path) -> Iterator[None]:
    """Create a lock file with mode 0600, hold its lock during a block, and remove it."""
    create_private_file(path, PluginError)
    try:
        with closing(_lock_of(path)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    finally:
        with suppress(OSError):  # Windows keeps a file that another process looks at
            path.unlink()


def _lock_of(path: Path) -> sqlite3.Connection:
    """Open an existing lock file: an empty database, because SQLite has locks on every system."""
    return sqlite3.connect(f"{path.as_uri()}?mode=rw", timeout=0, isolation_level=None, uri=True)


def _has_ended(folder: Path, process: str) -> bool:
    """Return True if nobody holds the lock of a process."""
    path = _lock_path(folder, process)
    if path.exists():
        try:
            with closing(_lock_of(path)) as lock:
                lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error:
            return False
    return True


def _remove_locks(folder: Path, own: str, named: set[str]) -> None:
    """Remove the lock files of processes that have ended and that no record names."""
    for path in folder.glob("records-*.lock"):
        process = path.stem.removeprefix("records-")
        if process not in named | {own} and _has_ended(folder, process):
            with suppress(OSError):
                path.unlink()


# --- The records of one feature.


class RecordFile(SqliteRecords):
    """Records in a file of their own, which is opened for each use: it may be removed, replaced or locked meanwhile.

    No process works on these records.

    Args:
        find: returns the path of the file, for each use. It may block. The file is created with mode 0600.
        refused: the class of the errors if the file cannot be used.
    """

    process = ""

    def __init__(self, find: Callable[[], Path], refused: type[Exception]) -> None:
        self._find = find
        self._refused = refused

    async def orphans(self, kind: str) -> Sequence[Record]:
        return ()

    async def _in_thread(self, use: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            path = self._find()
            try:
                create_private_file(path, self._refused)
                with closing(sqlite3.connect(path, timeout=MAX_FILE_WAIT_SECONDS, isolation_level=None)) as file:
                    file.executescript(f"PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON; {_TABLES}")
                    return use(file)
            except (OSError, sqlite3.Error) as error:
                raise self._refused(f"the file {path} cannot be used: {error}") from error

        return await asyncio.to_thread(run)


def state_path(name: str, refused: type[Exception]) -> Path:
    """Return the path of a file in the state directory.

    Args:
        name: the name of the file.
        refused: the class of the errors if there is no such directory, or every user can write it.
    """
    try:
        directory = StateFiles(os.environ).directory
    except OSError as error:
        raise refused(f"the file {name} cannot be used: {error}") from error
    if directory is None:
        raise refused(f"there is no state directory for {name}: set HOME or PEGBOARD_STATE_DIR")
    return directory / name
