"""The rules of record stores (`pegboard.plugin.RecordStore`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable
from time import time
from typing import Any

from pegboard.plugin.stores import Record, RecordStore
from pegboard_testing.contracts.contract import Contract, rule


def new_record(name: str = "a", **members: Any) -> Record:
    """Return a record that does not expire during a test."""
    defaults = Record(id=f"kind/{name}", content=b"\x00\xff content", expires_at=time() + 3600, owner="ann")
    return defaults._replace(state="working", **members)


class RecordStoreContract(Contract[RecordStore]):
    """The rules of a record store."""

    @abstractmethod
    def make(self) -> RecordStore | Awaitable[RecordStore]:
        """Return an empty store."""

    @rule
    async def test_a_record_is_kept(self, store: RecordStore) -> None:
        """Another process can continue with the same record."""
        record = new_record(process=store.process)
        assert await store.create(record) is True, "create must return True for a new id"
        stored = await store.get(record.id)
        assert stored == record, f"created {record}, got {stored}"
        assert isinstance(stored, Record), f"a {type(stored).__name__} came back"
        for unknown in ("kind/A", "kind/", "kind/aa", "other/a"):
            assert await store.get(unknown) is None, f"a record was returned for the unknown id {unknown!r}"

    @rule
    async def test_an_id_is_created_once(self, store: RecordStore) -> None:
        """Of several requests that must happen once, the first creates the record."""
        records = [new_record(content=bytes([number])) for number in range(20)]
        created = await asyncio.gather(*[store.create(record) for record in records])
        assert created.count(True) == 1, f"{created.count(True)} of {len(records)} requests created the same id"
        stored = await store.get("kind/a")
        assert stored == records[created.index(True)], "a create that returned False changed the record"

    @rule
    async def test_one_of_several_changes_counts(self, store: RecordStore) -> None:
        """Two processes that change a record at once do not overwrite each other."""
        record = new_record()
        await store.create(record)
        changes = [record._replace(content=bytes([number]), state="completed") for number in range(20)]
        replaced = await asyncio.gather(*[store.transition(record, change) for change in changes])
        assert replaced.count(True) == 1, f"{replaced.count(True)} of {len(changes)} changes of one state succeeded"
        stored = await store.get(record.id)
        assert stored == changes[replaced.index(True)]._replace(number=1), "the record is not the change that succeeded"
        assert await store.transition(stored, stored._replace(process="p", state="working", expires_at=time() + 60))
        assert await store.transition(record, record) is False, "a change of an earlier state succeeded"
        stored = await store.get(record.id)
        assert stored is not None, "a change removed the record"
        assert stored[3:] == ("ann", "working", "p", 2), f"the index of the changed record is {stored[3:]}"

    @rule
    async def test_a_change_creates_no_record(self, store: RecordStore) -> None:
        """A deleted record stays deleted, although a process still works on it."""
        record = new_record()
        assert await store.transition(record, record) is False, "a change of an unknown record succeeded"
        await store.create(record)
        deleted = await asyncio.gather(*[store.delete(record.id) for _ in range(5)])
        assert deleted.count(True) == 1, f"{deleted.count(True)} of 5 requests deleted the same record"
        assert await store.transition(record, record) is False, "a change of a deleted record succeeded"
        assert await store.get(record.id) is None, "a change created a record that was deleted"
        assert await store.create(record) is True, "the id of a deleted record cannot be used again"

    @rule
    async def test_records_expire(self, store: RecordStore) -> None:
        """A record that has expired does not exist for any method. Its id is free."""
        past = time() - 1
        for name in ("a", "b", "c"):
            await store.create(new_record(name, process="gone"))
            record = await store.get(f"kind/{name}")
            assert record is not None, "the record was not kept"
            await store.transition(record, record._replace(expires_at=past))
        await store.create(new_record("d"))
        assert await store.get("kind/a") is None, "get returned a record that has expired"
        expired = new_record(number=1)
        assert await store.transition(expired, expired) is False, "a change of a record that has expired succeeded"
        assert await store.delete("kind/b") is False, "delete found a record that has expired"
        assert await store.count("ann") == 1, "count counted records that have expired"
        assert [record.id for record in await store.find("kind")] == ["kind/d"], "find returned expired records"
        assert not await store.orphans("kind"), "orphans returned records that have expired"
        await store.expire()
        assert await store.create(new_record("c")) is True, "the id of a record that has expired cannot be used"
        assert await store.count("ann") == 2, "a record that replaces an expired one was not counted"

    @rule
    async def test_records_are_counted_and_found(self, store: RecordStore) -> None:
        """An owner has a limit of records. A feature finds its own records."""
        for name, owner in (("a", "ann"), ("b", "ann"), ("c", "bob"), ("d", "")):
            await store.create(new_record(name, owner=owner))
        await store.create(new_record()._replace(id="kind2/a", owner="bob"))
        await store.delete("kind/b")
        assert [await store.count(owner) for owner in ("ann", "bob", "an")] == [1, 2, 0]
        assert {record.id for record in await store.find("kind")} == {"kind/a", "kind/c", "kind/d"}
        assert await store.find("kin") == [] == list(await store.find("nothing"))

    @rule
    async def test_orphans_are_records_of_ended_processes(self, store: RecordStore) -> None:
        """The work of a process that has ended is found. The work of this process is not."""
        for name, process in (("a", store.process), ("b", ""), ("c", "99-gone")):
            await store.create(new_record(name, process=process))
        await store.create(new_record(process="99-gone")._replace(id="other/a"))
        orphans = [record.id for record in await store.orphans("kind")]
        assert orphans == ["kind/c"], f"the records of ended processes are kind/c, not {orphans}"
