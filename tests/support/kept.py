"""Stores in files, as a third party might write them: a plugin that tests install, and the stores alone."""

from __future__ import annotations

import fcntl
import pickle
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from pegboard import PluginConfig
from pegboard.plugin import EventStore, Plugin, PluginContext, SessionStore, Store, hookimpl

CLAIM = "../claim"
"""The file of a claim, beside the folder of the sessions."""


class Files:
    """Values by name, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder

    def write(self, name: str, value: object) -> None:
        fresh = self.folder.with_name(uuid4().hex)
        fresh.write_bytes(pickle.dumps(value))
        fresh.replace(self.folder / name)

    def read(self, name: str) -> Any:
        path = self.folder / name
        return pickle.loads(path.read_bytes()) if path.is_file() else None

    def delete(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)


class Sessions(Files, SessionStore):
    """A session store."""

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        if self.read(session_id) is not None:
            return False
        self.write(session_id, (owner, dict(fields)))
        return True

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        if (kept := self.read(session_id)) is None:
            return False
        fields = {**kept[1], **changes}
        self.write(session_id, (kept[0], {name: field for name, field in fields.items() if field is not None}))
        return True

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        kept = self.read(session_id)
        return None if kept is None else kept[1]

    async def remove(self, session_id: str) -> None:
        self.delete(session_id)

    async def count(self, owner: str) -> int:
        return sum(self.read(path.name)[0] == owner for path in self.folder.iterdir())


class ClaimedSessions(Sessions):
    """A session store that processes use one after another."""

    async def claim(self, owner: str, seconds: float) -> str:
        with self.locked():
            claimed, end = self.read(CLAIM) or ("", 0)
            if claimed not in {"", owner} and time.time() < end:
                return str(claimed)
            self.write(CLAIM, (owner, time.time() + seconds))
        return ""

    async def release(self, owner: str) -> None:
        with self.locked():
            if (self.read(CLAIM) or ("", 0))[0] == owner:
                self.delete(CLAIM)

    def pass_to(self, owner: str) -> None:
        """Give the claim to an owner, as if the claim of another owner had ended."""
        with self.locked():
            self.write(CLAIM, (owner, time.time() + 60))

    @contextmanager
    def locked(self) -> Iterator[None]:
        with (self.folder.with_suffix(".lock")).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Events(Files, EventStore):
    """An event store."""

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        streams = self.read(session_id) or {}
        streams.setdefault(stream, []).append((number, message))
        self.write(session_id, streams)

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        messages = (self.read(session_id) or {}).get(stream)
        if not messages or not messages[0][0] - 1 <= number <= messages[-1][0]:
            return None
        return [message for message in messages if message[0] > number]

    async def forget(self, session_id: str) -> None:
        self.delete(session_id)


class KeptConfig(PluginConfig):
    """`[plugins.kept]`: the folder of the files, a secret that must be set, and the store that cannot be opened.

    With `claims`, one process at a time may use the sessions.
    """

    folder: Path
    secret: str | None = None
    broken: str = ""
    claims: bool = False


class KeptPlugin(Plugin):
    """Offers both stores, and notes in a file when the stores are opened and closed."""

    Config = KeptConfig

    @hookimpl
    def register_stores(self, context: PluginContext) -> Iterable[Store]:
        sessions = ClaimedSessions if self.config.claims else Sessions
        opened = {SessionStore: ("sessions", sessions), EventStore: ("events", Events)}
        return [Store(protocol, partial(self._open, context, *kind)) for protocol, kind in opened.items()]

    @asynccontextmanager
    async def _open(self, context: PluginContext, name: str, store: type[Files]) -> AsyncIterator[Any]:
        if self.config.broken == name:
            raise OSError("no connection")
        secret = f" with {context.get_secret(self.config.secret)}" if self.config.secret else ""
        with (self.config.folder / "notes").open("a") as notes:
            print(f"{name} opened{secret}", file=notes, flush=True)
            try:
                yield store(self.config.folder / name)
            finally:
                print(f"{name} closed", file=notes)
