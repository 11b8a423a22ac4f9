"""Stores in files, as a third party might bring them; copied to where the server under test finds it."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from pegboard import SessionRecord


class Files:
    """Values by name, in a folder."""

    def __init__(self, kind: str) -> None:
        self._folder = Path(os.environ["KEPT"]) / kind
        self._folder.mkdir(exist_ok=True)

    async def write(self, name: str, value: object) -> None:
        """Put a value into its file, whole: who reads meanwhile, or after a kill, finds the one or the other."""
        await asyncio.to_thread(self._replace, name, pickle.dumps(value))

    def _replace(self, name: str, data: bytes) -> None:
        fresh = self._folder.parent / f"{self._folder.name}-{name}-{uuid4().hex}"
        fresh.write_bytes(data)
        fresh.replace(self._folder / name)

    async def read(self, name: str) -> object:
        """What is in a file, None when it is not there."""
        path = self._folder / name
        return pickle.loads(await asyncio.to_thread(path.read_bytes)) if path.is_file() else None

    async def remove(self, name: str) -> None:
        """Take a file away."""
        await asyncio.to_thread((self._folder / name).unlink, missing_ok=True)


class Sessions:
    """A session store."""

    def __init__(self) -> None:
        self._files = Files("sessions")

    async def put(self, record: SessionRecord) -> bool:
        """Keep a session."""
        plain = (record.id, tuple(record.client), tuple(record.caller), *record[3:])
        await self._files.write(record.id, plain)
        return True

    async def get(self, session_id: str) -> SessionRecord | None:
        """Find a session."""
        from pegboard import Caller, Client

        plain = await self._files.read(session_id)
        if not isinstance(plain, tuple):
            return None
        name, client, caller, *rest = plain
        return SessionRecord(name, Client(*client), Caller(*caller), *rest)

    async def remove(self, session_id: str) -> None:
        """Forget a session."""
        await self._files.remove(session_id)


class Events:
    """An event store."""

    def __init__(self) -> None:
        self._files = Files("events")

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Keep a message."""
        found = await self._files.read(session_id)
        streams = found if isinstance(found, dict) else {}
        streams.setdefault(stream, []).append((number, message))
        await self._files.write(session_id, streams)

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """Find what follows a message."""
        found = await self._files.read(session_id)
        messages = found.get(stream, []) if isinstance(found, dict) else []
        if not messages or not messages[0][0] - 1 <= number <= messages[-1][0]:
            return None
        return [one for one in messages if one[0] > number]

    async def forget(self, session_id: str) -> None:
        """Forget a session's messages."""
        await self._files.remove(session_id)


class Broken:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no connection")
