"""The rules of session stores."""

import sqlite3
from pathlib import Path

from docs.examples.plugins.session_store import SqliteSessions, SqliteSessionsPlugin
from pegboard.plugin import SessionStore
from pegboard_testing import SessionStoreContract, connect


class TestSessionStore(SessionStoreContract):
    def make(self) -> SessionStore:
        self.database = sqlite3.connect(":memory:")
        return SqliteSessions(self.database, max_sessions=100, idle_seconds=60)

    def dispose(self, made: SessionStore) -> None:
        self.database.close()


def test_the_host_accepts_the_plugin(tmp_path: Path) -> None:
    with connect(SqliteSessionsPlugin, config={"file": tmp_path / "sessions.db"}) as client:
        assert client.problems == ()
