"""Keeps sessions in a SQLite file, so that they outlive the process."""

from __future__ import annotations

import sqlite3
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


class SqliteSessions:
    """The sessions in one file."""

    def __init__(self, database: sqlite3.Connection, max_sessions: int) -> None:
        self._database = database
        self._max_sessions = max_sessions
        self._run("create table if not exists sessions (id text primary key, record blob)")

    def _run(self, statement: str, *values: object) -> list[Any]:
        with self._database:
            return self._database.execute(statement, values).fetchall()

    async def put(self, record: SessionRecord) -> bool:
        """Write a session. Return False if the store is full."""
        [(others,)] = self._run("select count(*) from sessions where id != ?", record.id)
        if others >= self._max_sessions:
            return False
        self._run("insert or replace into sessions values (?, ?)", record.id, encode_session(record))
        return True

    async def get(self, session_id: str) -> SessionRecord | None:
        """Read a session."""
        found = self._run("select record from sessions where id = ?", session_id)
        return decode_session(found[0][0]) if found else None

    async def remove(self, session_id: str) -> None:
        """Delete a session."""
        self._run("delete from sessions where id = ?", session_id)

    async def count(self, caller: Caller, peer: str = "") -> int:
        """Count the sessions of a caller."""
        records = [decode_session(row[0]) for row in self._run("select record from sessions")]
        return sum(record.caller == caller and record.peer == peer for record in records)


class SqliteSessionsPlugin(Plugin):
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
            yield SqliteSessions(database, self.config.max_sessions)
