"""Writes docs/output.schema.json: the JSON Schema of each command's output with `--json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from pegboard.cli.output.json_records import FailureOutput, StatusOutput, VersionOutput
from pegboard.cli.parsing.argument_reading import function_named
from pegboard.cli.parsing.declared_commands import host_commands
from pegboard.loading.fact_models import CommandFacts

SHARED_NAMES = {"configure": "configure CLIENT"}
"""The name of the commands of a group that have the same output. By default it is the name of the group."""


def output_types() -> dict[str, Any]:
    """Return the type of each command's output by its name. The name of `pegboard` without a command is ""."""
    declared = (output for command in host_commands().values() for output in _declared(command.name, command.facts))
    types = {name: function_named(output) for name, output in declared}
    return {"": StatusOutput, "--version": VersionOutput, **types}


def _declared(name: str, facts: CommandFacts) -> Iterator[tuple[str, str]]:
    """Yield the name and the type of a command, or of each command of a group, that declares its output."""
    if facts.output:
        yield name, facts.output
    outputs = {word: facts.command(word).output for word in facts.commands}
    times = Counter(outputs.values())
    for word, output in outputs.items():
        if output:
            yield SHARED_NAMES.get(name, name) if times[output] > 1 else f"{name} {word}", output


def output_schemas() -> str:
    """Return one document, in which `$defs` has a schema for each command, and for failures."""
    types = {f"pegboard {command}".rstrip(): kind for command, kind in output_types().items()}
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
