"""Stores in files, as a third party might write them: a plugin that tests install, and the stores alone."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from pegboard import PluginConfig
from pegboard.plugin import (
    EventStore,
    Plugin,
    PluginContext,
    SessionRecord,
    SessionStore,
    Store,
    decode_session,
    encode_session,
    hookimpl,
)
from pegboard.types import Caller


class Files:
    """Values by name, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(exist_ok=True)

    async def write(self, name: str, value: object) -> None:
        def replace() -> None:
            fresh = self.folder.parent / f"{self.folder.name}-{name}-{uuid4().hex}"
            fresh.write_bytes(pickle.dumps(value))
            fresh.replace(self.folder / name)

        await asyncio.to_thread(replace)

    async def read(self, name: str) -> object:
        path = self.folder / name
        return pickle.loads(await asyncio.to_thread(path.read_bytes)) if path.is_file() else None

    async def remove(self, name: str) -> None:
        await asyncio.to_thread((self.folder / name).unlink, missing_ok=True)


class Sessions:
    """A session store."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder / "sessions")
        self.remove = self._files.remove

    async def put(self, record: SessionRecord) -> bool:
        await self._files.write(record.id, encode_session(record))
        return True

    async def get(self, session_id: str) -> SessionRecord | None:
        data = await self._files.read(session_id)
        return decode_session(data) if isinstance(data, bytes) else None

    async def count(self, caller: Caller, peer: str = "") -> int:
        found = [await self.get(path.name) for path in self._files.folder.iterdir()]
        return sum(one is not None and (one.caller, one.peer) == (caller, peer) for one in found)


class Events:
    """An event store."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder / "events")
        self.forget = self._files.remove

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        found = await self._files.read(session_id)
        streams = found if isinstance(found, dict) else {}
        streams.setdefault(stream, []).append((number, message))
        await self._files.write(session_id, streams)

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        found = await self._files.read(session_id)
        messages = found.get(stream, []) if isinstance(found, dict) else []
        if not messages or not messages[0][0] - 1 <= number <= messages[-1][0]:
            return None
        return [one for one in messages if one[0] > number]


class KeptConfig(PluginConfig):
    """`[plugins.kept]`.

    Attributes:
        folder: the folder of the files.
        secret: the name of a secret that must be set, None for none.
        broken: "open" to fail when a store is opened, "lacking" to give stores that lack methods.
    """

    folder: Path
    secret: str | None = None
    broken: str = ""


class KeptPlugin(Plugin):
    """Offers both stores, and notes in a file when the stores are opened and closed."""

    Config = KeptConfig

    @hookimpl
    def register_stores(self, context: PluginContext) -> Iterable[Store]:

        @asynccontextmanager
        async def sessions() -> AsyncIterator[SessionStore]:
            if self.config.broken == "open":
                raise OSError("no connection")
            async with self._noting("sessions", context) as folder:
                yield object() if self.config.broken == "lacking" else Sessions(folder)  # type: ignore[misc]

        @asynccontextmanager
        async def events() -> AsyncIterator[EventStore]:
            async with self._noting("events", context) as folder:
                yield Events(folder)

        return [Store(SessionStore, sessions), Store(EventStore, events)]

    @asynccontextmanager
    async def _noting(self, kind: str, context: PluginContext) -> AsyncIterator[Path]:
        secret = f" with {context.get_secret(self.config.secret)}" if self.config.secret else ""
        with (self.config.folder / "notes").open("a") as notes:
            print(f"{kind} opened{secret}", file=notes, flush=True)
            try:
                yield self.config.folder
            finally:
                print(f"{kind} closed", file=notes)
