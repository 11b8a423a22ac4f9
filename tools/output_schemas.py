"""Writes docs/output.schema.json: the JSON Schema of each command's output with `--json`."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from pegboard.cli.output.json_records import OUTPUTS, FailureOutput


def output_schemas() -> str:
    """Return one document, in which `$defs` has a schema for each command, and for failures."""
    types = {f"pegboard {command}".rstrip(): kind for command, kind in OUTPUTS.items()}
    types["failure"] = FailureOutput
    adapters: list[Any] = [(name, "serialization", TypeAdapter(kind)) for name, kind in types.items()]
    of_commands, shared = TypeAdapter.json_schemas(adapters)
    own = {name: schema for (name, _), schema in of_commands.items()}
    schemas: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The output of the commands of pegboard with --json",
        "$defs": {**shared["$defs"], **own},
    }
    return json.dumps(schemas, indent=2) + "\n"
