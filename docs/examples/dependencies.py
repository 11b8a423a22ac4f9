"""Tools receive a database as a parameter. The host opens it once and closes it at the end.

$ pegboard call --file dependencies.py notes_add text=milk
1
"""

import sqlite3
from collections.abc import Iterator
from typing import Annotated

from pegboard import Depends, Toolkit

kit = Toolkit("notes")


def open_database() -> Iterator[sqlite3.Connection]:
    """Open a database in memory, and close it when the host stops."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table notes (text)")
    yield database
    database.close()


Database = Annotated[sqlite3.Connection, Depends(open_database, scope="host")]


@kit.tool
def add(text: str, database: Database) -> int:
    """Add a note and return the number of notes."""
    return database.execute("insert into notes values (?)", [text]).lastrowid or 0


@kit.tool
def find(text: str, database: Database) -> list[str]:
    """Find the notes that contain a text."""
    return [note for (note,) in database.execute("select text from notes where instr(text, ?)", [text])]


if __name__ == "__main__":
    kit.run()
