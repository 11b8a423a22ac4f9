"""The official JSON schemas, one for each revision, compiled once. It knows definitions and no conversations."""

from __future__ import annotations

import base64
import binascii
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

FOLDER = Path(__file__).parent.parent / "schemas"

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions with an `initialize` handshake, oldest first."""
MODERN = ("2026-07-28",)
"""Revisions whose requests carry their own version."""
REVISIONS = LEGACY + MODERN

INTEGERS = ["string", "integer", "boolean"]
NUMBERS = ["string", "number", "boolean"]
ELICITED = ("ElicitResult", "properties", "content", "additionalProperties")


class Fault(NamedTuple):
    """Something that the schemas' generator made of the TypeScript source that the source does not say."""

    revision: str
    place: tuple[str | int, ...]
    meant: Any


FAULTS = (
    Fault("2025-06-18", (*ELICITED, "type"), NUMBERS),
    Fault("2025-11-25", (*ELICITED, "anyOf", 1, "type"), NUMBERS),
    Fault("2026-07-28", (*ELICITED, "anyOf", 1, "type"), NUMBERS),
    Fault("2026-07-28", ("JSONValue", "anyOf", 2, "type"), [*NUMBERS, "null"]),
)
"""`number` became `integer`, the generator's default for numbers, and a `null` was lost."""


class SchemaMismatch(AssertionError):
    """A message does not match the official schema of its revision."""


def official(revision: str) -> dict[str, Any]:
    """The schema file of a revision, as its authors made it."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{revision}.json").read_text(encoding="utf-8"))
    return schema


@cache
def definitions(revision: str) -> dict[str, Any]:
    """The definitions of a revision, with the generator's faults mended."""
    schema = official(revision)
    schemas: dict[str, Any] = schema[_keyword(revision)]
    for fault in FAULTS:
        if fault.revision == revision:
            *path, last = fault.place
            node: Any = schemas
            for step in path:
                node = node[step]
            assert node[last] == INTEGERS, f"{revision} {fault.place}: the file has changed"
            node[last] = fault.meant
    return schemas


@cache
def methods(revision: str, union: str) -> dict[str, str]:
    """Return the definitions of a union such as `ServerNotification`, by method."""
    known = definitions(revision)
    members = known.get(union, {}).get("anyOf", ())
    names = [member["$ref"].rpartition("/")[2] for member in members]
    return {known[name]["properties"]["method"]["const"]: name for name in names}


def check(revision: str, definition: str, instance: Any) -> None:
    """Raise `SchemaMismatch` unless the instance is a valid `definition` of the revision."""
    error = best_match(_validator(revision, definition).iter_errors(instance))
    if error is not None:
        raise SchemaMismatch(f"{revision} {definition}{error.json_path[1:]}: {error.message}")


def check_value(schema: dict[str, Any], instance: Any, what: str) -> None:
    """Raise `SchemaMismatch` unless the instance fits a tool's own schema; a schema that is none is a mismatch too."""
    error = best_match(_tool_validator(json.dumps(schema, sort_keys=True)).iter_errors(instance))
    if error is not None:
        raise SchemaMismatch(f"{what}{error.json_path[1:]}: {error.message}")


def check_tool_schema(schema: dict[str, Any], what: str) -> None:
    """Raise `SchemaMismatch` unless this is a valid JSON Schema of its dialect."""
    try:
        _tool_validator(json.dumps(schema, sort_keys=True))
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{what}: {error}") from error


@cache
def _validator(revision: str, definition: str) -> Validator:
    keyword = _keyword(revision)
    schema = {
        "$schema": official(revision)["$schema"],
        keyword: definitions(revision),
        "$ref": f"#/{keyword}/{definition}",
    }
    if definition not in schema[keyword]:
        raise SchemaMismatch(f"{revision} has no {definition}")
    return validator_for(schema)(schema, format_checker=FORMATS)


@cache
def _tool_validator(text: str) -> Validator:
    schema = json.loads(text)
    dialect = validator_for(schema, default=Draft202012Validator)
    error: ValidationError | None = best_match(dialect(dialect.META_SCHEMA).iter_errors(schema))
    if error is not None:
        raise SchemaMismatch(f"not a valid JSON Schema at {error.json_path}: {error.message}")
    return dialect(schema)


def _keyword(revision: str) -> str:
    return "$defs" if revision >= "2025-11-25" else "definitions"


FORMATS = FormatChecker(formats=())


@FORMATS.checks("byte", raises=(binascii.Error, ValueError))
def _is_base64(value: object) -> bool:
    return not isinstance(value, str) or bool(base64.b64decode(value, validate=True) or value == "")


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*", value) is not None
