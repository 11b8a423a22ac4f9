"""Values that consist only of the types that JSON has. pydantic_core checks and copies them in one pass."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic_core import CoreSchema, core_schema

_NAME = "json"

PLAIN_JSON: CoreSchema = core_schema.definition_reference_schema(_NAME)
"""The core schema of any plain JSON value, for use in `with_plain_json`. It rejects subclasses, bytes and iterators."""


def with_plain_json(core: CoreSchema) -> CoreSchema:
    """Return a core schema that may contain `PLAIN_JSON`."""
    return core_schema.definitions_schema(core, [_plain_json()])


@cache
def _plain_json() -> CoreSchema:
    """Return the definition of `PLAIN_JSON`. Creating it takes longer than creating most schemas."""
    parts: dict[Any, CoreSchema] = {
        str: core_schema.str_schema(strict=True),
        int: core_schema.int_schema(strict=True),
        float: core_schema.float_schema(strict=True, allow_inf_nan=False),
        bool: core_schema.bool_schema(strict=True),
        type(None): core_schema.none_schema(),
        dict: core_schema.dict_schema(core_schema.str_schema(strict=True), PLAIN_JSON, strict=True),
        list: core_schema.list_schema(PLAIN_JSON, strict=True),
    }
    return core_schema.tagged_union_schema(parts, discriminator=type, ref=_NAME)
