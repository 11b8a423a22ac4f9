"""Encryption of the data in stores and on the bus, which see only bytes and an index.

AES-256-GCM under keys derived with HKDF-SHA256 (RFC 5869). Names and ids become keyed digests (HMAC-SHA256).
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard.plugin.sessions import EventStore, SessionStore
from pegboard.plugin.stores import Record, RecordStore
from pegboard.wire.codec import decode, encode

NONCE_BYTES = 12
KEY_BYTES = 32
NAME_BYTES = 2
"""The size of the length of a name, before the name in its sealed value."""


class StateSealer:
    """Encrypts and decrypts values.

    Args:
        keys: secrets. The first encrypts, all decrypt. The last one makes digests: rotate keys by adding new keys in
            front.

    Attributes:
        digest: returns the keyed digest of a text.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        derived = [HKDF(SHA256(), 2 * KEY_BYTES, None, b"pegboard shared state").derive(key.encode()) for key in keys]
        self._ciphers = [AESGCM(key[:KEY_BYTES]) for key in derived]
        self._digest_key = derived[-1][KEY_BYTES:]
        self.digest = lru_cache(maxsize=4096)(self._digest)

    def _digest(self, text: str) -> str:
        return hmac.digest(self._digest_key, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def seal(self, value: bytes, bound_to: str) -> bytes:
        """Encrypt a value, which can only be opened with the same `bound_to`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, value, bound_to.encode())

    def open(self, sealed: bytes, bound_to: str) -> bytes:
        """Decrypt a value.

        Raises:
            ValueError: it was changed, or sealed for something else or with another key.
        """
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound_to.encode())
            except (InvalidTag, ValueError):
                continue
        raise ValueError("it was sealed with another key, or for something else")

    def sealed_store(self, store: Any) -> Any:
        """Return a store whose values are sealed. A store of another contract is returned unchanged."""
        if isinstance(store, SessionStore):
            return SealedSessionStore(store, self)
        if isinstance(store, RecordStore):
            return SealedRecordStore(store, self)
        return SealedEventStore(store, self) if isinstance(store, EventStore) else store


class SealedSessionStore(SessionStore):
    """A session store whose values are sealed."""

    def __init__(self, store: SessionStore, sealer: StateSealer) -> None:
        self._store = store
        self._sealer = sealer
        self._opened = lru_cache(maxsize=256)(self._open)  # most fields have not changed since the last call
        self.shared = store.shared

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        key = self._sealer.digest(session_id)
        sealed = {name: value for name, value in self._sealed(key, fields).items() if value is not None}
        return await self._store.create(key, self._sealer.digest(owner), sealed)

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        key = self._sealer.digest(session_id)
        return await self._store.update(key, self._sealed(key, changes))

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        """Return the fields of a session. A session that was sealed with other keys is unknown."""
        key = self._sealer.digest(session_id)
        sealed = await self._store.get(key)
        try:
            return None if sealed is None else dict(self._opened(key, *field) for field in sealed.items())
        except ValueError:
            return None

    async def remove(self, session_id: str) -> None:
        await self._store.remove(self._sealer.digest(session_id))

    async def count(self, owner: str) -> int:
        return await self._store.count(self._sealer.digest(owner))

    def _sealed(self, key: str, fields: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        sealed: dict[str, bytes | None] = {}
        for name, value in fields.items():
            digest, own = self._sealer.digest(key + name), name.encode()
            start = len(own).to_bytes(NAME_BYTES, "big") + own
            sealed[digest] = None if value is None else self._sealer.seal(start + value, key + digest)
        return sealed

    def _open(self, key: str, digest: str, sealed: bytes) -> tuple[str, bytes]:
        whole = self._sealer.open(sealed, key + digest)
        end = NAME_BYTES + int.from_bytes(whole[:NAME_BYTES], "big")
        return whole[NAME_BYTES:end].decode(), whole[end:]


class SealedRecordStore(RecordStore):
    """A store whose records are sealed. It sees their kinds, states, processes, numbers and expiry."""

    def __init__(self, store: RecordStore, sealer: StateSealer) -> None:
        self._store = store
        self._sealer = sealer
        store.on_ended = lambda: self.on_ended and self.on_ended()

    @property
    def process(self) -> str:  # type: ignore[override]  # a suspended process gets another number
        return self._store.process

    async def create(self, record: Record) -> bool:
        return await self._store.create(self._sealed(record))

    async def get(self, record_id: str) -> Record | None:
        """Return a record. A record that was sealed with other keys is unknown."""
        record = await self._store.get(self._key(record_id))
        return next(iter(self._opened([] if record is None else [record])), None)

    async def transition(self, expected: Record, new: Record) -> bool:
        sealed = self._sealed(new._replace(id=expected.id, owner=expected.owner))
        return await self._store.transition(sealed._replace(number=expected.number), sealed)

    async def delete(self, record_id: str) -> bool:
        return await self._store.delete(self._key(record_id))

    async def count(self, owner: str) -> int:
        return await self._store.count(self._sealer.digest(owner))

    async def find(self, kind: str) -> Sequence[Record]:
        return self._opened(await self._store.find(kind))

    async def orphans(self, kind: str) -> Sequence[Record]:
        return self._opened(await self._store.orphans(kind))

    async def expire(self) -> None:
        await self._store.expire()

    def _key(self, record_id: str) -> str:
        return f"{record_id.partition('/')[0]}/{self._sealer.digest(record_id)}"

    def _sealed(self, record: Record) -> Record:
        key, index = self._key(record.id), encode([record.id, record.owner])
        whole = len(index).to_bytes(NAME_BYTES, "big") + index + record.content
        return record._replace(id=key, owner=self._sealer.digest(record.owner), content=self._sealer.seal(whole, key))

    def _opened(self, records: Sequence[Record]) -> list[Record]:
        opened: list[Record] = []
        for record in records:
            with suppress(ValueError):
                whole = self._sealer.open(record.content, record.id)
                end = NAME_BYTES + int.from_bytes(whole[:NAME_BYTES], "big")
                record_id, owner = decode(whole[NAME_BYTES:end])
                opened.append(record._replace(id=record_id, owner=owner, content=whole[end:]))
        return opened


class SealedEventStore(EventStore):
    """An event store whose messages are sealed."""

    def __init__(self, store: EventStore, sealer: StateSealer) -> None:
        self._store = store
        self._sealer = sealer
        self.shared = store.shared

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        key = self._sealer.digest(session_id), self._sealer.digest(session_id + stream)
        await self._store.append(*key, number, self._sealer.seal(message, f"{key[1]}{number}"))

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        key = self._sealer.digest(session_id), self._sealer.digest(session_id + stream)
        sealed = await self._store.after(*key, number)
        try:
            return sealed and [(place, self._sealer.open(text, f"{key[1]}{place}")) for place, text in sealed]
        except ValueError:
            return None

    async def forget(self, session_id: str) -> None:
        await self._store.forget(self._sealer.digest(session_id))
