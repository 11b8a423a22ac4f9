"""Keeps sessions in a SQLite file, so that they outlive the process."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, closing
from typing import Any

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SessionRecord, SessionStore, Store, decode_session, encode_session, hookimpl
from pegboard.types import Caller


class SqliteSessionsConfig(PluginConfig):
    """The settings in `[plugins.sqlite_sessions]`."""

    file: str
    max_sessions: int = 10_000
    idle_seconds: float = 3600


class SqliteSessions(SessionStore):
    """The sessions in one file."""

    def __init__(self, database: sqlite3.Connection, max_sessions: int, idle_seconds: float) -> None:
        self._database = database
        self._max_sessions = max_sessions
        self._idle_seconds = idle_seconds
        self._run("create table if not exists sessions (id text primary key, record blob, used real)")
        self._run("create table if not exists claim (id integer primary key, owner text, ends real)")

    def _run(self, statement: str, *values: object) -> list[Any]:
        with self._database:
            return self._database.execute(statement, values).fetchall()

    async def claim(self, owner: str, seconds: float) -> str:
        """Claim the file, unless another owner has a claim. Return that owner."""
        now = time.time()
        with self._database:
            self._database.execute("begin immediate")  # no other process reads or writes until the commit
            others = self._database.execute("select owner from claim where owner != ? and ends > ?", (owner, now))
            for (other,) in others:
                return str(other)
            self._database.execute("insert or replace into claim values (1, ?, ?)", (owner, now + seconds))
        return ""

    async def release(self, owner: str) -> None:
        """End the claim of an owner."""
        self._run("delete from claim where owner = ?", owner)

    def _forget_idle(self) -> None:
        self._run("delete from sessions where used < ?", time.time() - self._idle_seconds)

    async def put(self, record: SessionRecord) -> bool:
        """Write a session. Return False if the store is full."""
        self._forget_idle()
        [(others,)] = self._run("select count(*) from sessions where id != ?", record.id)
        if others >= self._max_sessions:
            return False
        self._run("insert or replace into sessions values (?, ?, ?)", record.id, encode_session(record), time.time())
        return True

    async def update(self, record: SessionRecord) -> bool:
        """Replace a session. Return False if there is none."""
        self._forget_idle()
        change = "update sessions set record = ?, used = ? where id = ? returning id"
        return bool(self._run(change, encode_session(record), time.time(), record.id))

    async def get(self, session_id: str) -> SessionRecord | None:
        """Read a session."""
        self._forget_idle()
        self._run("update sessions set used = ? where id = ?", time.time(), session_id)
        found = self._run("select record from sessions where id = ?", session_id)
        return decode_session(found[0][0]) if found else None

    async def remove(self, session_id: str) -> None:
        """Delete a session."""
        self._run("delete from sessions where id = ?", session_id)

    async def count(self, caller: Caller, peer: str = "") -> int:
        """Count the sessions of a caller."""
        records = [decode_session(row[0]) for row in self._run("select record from sessions")]
        return sum(record.caller == caller and record.peer == peer for record in records)


class SqliteSessionsPlugin(Plugin[SqliteSessionsConfig]):
    """Selected by `[plugins.mcp] session_store = "sqlite_sessions"`."""

    Config = SqliteSessionsConfig

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the store."""
        return [Store(SessionStore, self.sessions)]

    @asynccontextmanager
    async def sessions(self) -> AsyncGenerator[SqliteSessions, None]:
        """Open the file while the host runs."""
        with closing(sqlite3.connect(self.config.file)) as database:
            yield SqliteSessions(database, self.config.max_sessions, self.config.idle_seconds)
