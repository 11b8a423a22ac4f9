"""Booleans in place of numbers, in lists of objects. Other places are in the cases of `signatures`."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.schemas.booleans import misplaced

ROW: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "done": {"type": "boolean"},
        "inner": {"type": "array", "items": {"type": "integer"}},
    },
}
SCHEMA = {"properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}}, "$defs": {"Row": ROW}}
CLOSED = {"additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize(
    ("own", "row", "path"),
    [
        ({}, {"number": None, "done": True}, None),
        ({}, {"number": True}, "number"),
        ({}, {"inner": [1, False]}, "inner"),
        ({}, {"other": True}, None),
        (CLOSED, {"other": True}, "other"),
    ],
    ids=["none", "in a number", "in an array", "in a member without a schema", "in a member by any name"],
)
def test_a_boolean_in_an_object_of_a_list_is_found(own: dict[str, Any], row: dict[str, Any], path: str | None) -> None:
    schema = {**SCHEMA, "$defs": {"Row": {**ROW, **own}}}
    places = misplaced({"rows": [{"number": 1}, row, {"done": False}]}, schema)
    assert [where[:3] for where, _ in places] == ([] if path is None else [("rows", 1, path)])
