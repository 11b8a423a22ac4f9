"""Records equal those of `typing.NamedTuple`, and are created without compiling annotations."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import get_type_hints

import pytest

from pegboard import records


class Own(records.NamedTuple):
    """A record."""

    name: str
    size: int | None = None

    def twice(self) -> str:
        """Return the name twice."""
        return self.name * 2

    @property
    def shown(self) -> str:
        return f"{self.name}: {self.size}"


def test_a_record_is_a_named_tuple_with_defaults_and_methods() -> None:
    record = Own("a", size=2)
    assert (*record, record.twice(), record.shown) == ("a", 2, "aa", "a: 2")
    assert Own("b") == record._replace(name="b", size=None) == pickle.loads(pickle.dumps(Own("b")))
    assert (Own.__module__, Own.__qualname__, Own.__doc__) == (__name__, "Own", "A record.")


def test_annotations_stay_strings_that_type_checkers_resolve() -> None:
    class Usual(typing.NamedTuple):
        name: str
        size: int | None = None

    assert get_type_hints(Own) == get_type_hints(Usual)
    assert Own.__annotations__["size"] == "int | None"


def test_a_record_shows_its_fields_and_can_be_copied_and_matched() -> None:
    record = Own("a", 2)
    assert repr(record) == "Own(name='a', size=2)"
    assert record._asdict() == {"name": "a", "size": 2}
    assert type(copy.deepcopy(record)) is type(Own._make(record)) is Own
    assert not hasattr(record, "__dict__")
    match record:
        case Own(name, size):
            assert (name, size) == record


def test_missing_and_unknown_fields_are_named() -> None:
    with pytest.raises(TypeError, match=r"Own.__new__\(\) missing 1 required positional argument: 'name'"):
        Own()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Own has no field weight"):
        Own("a")._replace(weight=1)  # type: ignore[call-arg]
