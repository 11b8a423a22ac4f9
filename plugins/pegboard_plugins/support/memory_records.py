"""Records in the memory of one process (`pegboard.plugin.RecordStore`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from time import time

from pegboard.plugin import Record, RecordStore


class MemoryRecordStore(RecordStore):
    """A store that ends with its process."""

    process = "memory"

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._counts: Counter[str] = Counter()
        self._ends: list[tuple[float, str]] = []  # a heap; an entry may be out of date

    async def create(self, record: Record) -> bool:
        await self.expire()
        if record.id in self._records:
            return False
        self._keep(record._replace(number=0))
        self._counts[record.owner] += 1
        return True

    async def get(self, record_id: str) -> Record | None:
        await self.expire()
        return self._records.get(record_id)

    async def transition(self, expected: Record, new: Record) -> bool:
        stored = await self.get(expected.id)
        if stored is None or stored.number != expected.number:
            return False
        self._keep(new._replace(id=stored.id, owner=stored.owner, number=stored.number + 1))
        return True

    async def delete(self, record_id: str) -> bool:
        await self.expire()
        return self._remove(record_id)

    async def count(self, owner: str) -> int:
        await self.expire()
        return self._counts[owner]

    async def find(self, kind: str) -> Sequence[Record]:
        await self.expire()
        return [record for record in self._records.values() if record.id.startswith(f"{kind}/")]

    async def orphans(self, kind: str) -> Sequence[Record]:
        """Return the records of a kind that name another process, which has ended: no other process has this memory."""
        return [record for record in await self.find(kind) if record.process not in {"", self.process}]

    async def expire(self) -> None:
        now = time()
        while self._ends and self._ends[0][0] <= now:
            _, record_id = heappop(self._ends)
            record = self._records.get(record_id)
            if record is not None and record.expires_at <= now:
                self._remove(record_id)

    def _keep(self, record: Record) -> None:
        former = self._records.get(record.id)
        self._records[record.id] = record
        if former is None or former.expires_at != record.expires_at:
            heappush(self._ends, (record.expires_at, record.id))

    def _remove(self, record_id: str) -> bool:
        record = self._records.pop(record_id, None)
        if record is None:
            return False
        self._counts[record.owner] -= 1
        if not self._counts[record.owner]:
            del self._counts[record.owner]
        return True
