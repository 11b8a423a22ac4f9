"""Keeps sessions in a SQLite file, so that they outlive the process."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SessionStore, Store, hookimpl


class SqliteSessionsConfig(PluginConfig):
    """The settings in `[plugins.sqlite_sessions]`."""

    file: Path
    max_sessions: int = 10_000
    idle_seconds: float = 3600

    @field_validator("file")
    @classmethod
    def _resolve(cls, file: Path, info: ValidationInfo) -> Path:
        return cls.folder_of(info) / file  # a relative path begins at the configuration file


class SqliteSessions(SessionStore):
    """The sessions in one file."""

    def __init__(self, database: sqlite3.Connection, max_sessions: int, idle_seconds: float) -> None:
        self._database = database
        self._max_sessions = max_sessions
        self._idle_seconds = idle_seconds
        self._run("pragma foreign_keys = on")
        self._run("create table if not exists sessions (id text primary key, owner text, used real)")
        self._run(
            "create table if not exists fields (session text references sessions on delete cascade, name text, "
            "value blob, primary key (session, name))"
        )
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

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        """Write a session. Return False if the store is full, or has the session."""
        self._forget_idle()
        add = "insert into sessions select ?, ?, ? where (select count(*) from sessions) < ? on conflict do nothing"
        values = session_id, owner, time.time(), self._max_sessions
        return bool(self._run(f"{add} returning id", *values)) and await self.update(session_id, fields)

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        """Change fields of a session. Return False if there is none."""
        self._forget_idle()
        with self._database:
            use = "update sessions set used = ? where id = ? returning id"
            if not self._database.execute(use, (time.time(), session_id)).fetchall():
                return False
            fields = [(session_id, name, value) for name, value in changes.items()]
            self._database.executemany("insert or replace into fields values (?, ?, ?)", fields)
            self._database.execute("delete from fields where session = ? and value is null", (session_id,))
        return True

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        """Read a session."""
        self._forget_idle()
        if not self._run("select id from sessions where id = ?", session_id):
            return None
        return dict(self._run("select name, value from fields where session = ?", session_id))

    async def remove(self, session_id: str) -> None:
        """Delete a session."""
        self._run("delete from sessions where id = ?", session_id)

    async def count(self, owner: str) -> int:
        """Count the sessions of an owner."""
        self._forget_idle()
        [(sessions,)] = self._run("select count(*) from sessions where owner = ?", owner)
        return int(sessions)


class SqliteSessionsPlugin(Plugin[SqliteSessionsConfig]):
    """Selected by `[plugins.mcp] session_store = "sqlite_sessions"`."""

    Config = SqliteSessionsConfig

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the store."""
        return [Store(contract=SessionStore, open=self.sessions)]

    @asynccontextmanager
    async def sessions(self) -> AsyncGenerator[SqliteSessions, None]:
        """Open the file while the host runs."""
        with closing(sqlite3.connect(self.config.file)) as database:
            yield SqliteSessions(database, self.config.max_sessions, self.config.idle_seconds)
