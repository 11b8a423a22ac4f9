"""Writes docs/output.schema.json: the JSON Schema of each command's output with `--json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from pegboard.cli.parsing.argument_reading import function_named
from pegboard.cli.parsing.declared_commands import host_commands
from pegboard.loading.fact_models import CommandFacts
from tools.output_records import OF_HOST, FailureOutput, StatusOutput, VersionOutput

SHARED_NAMES = {"configure": "configure CLIENT"}
"""The name of the commands of a group that have the same output. By default it is the name of the group."""


def output_types() -> dict[str, Any]:
    """Return the type of each command's output by its name. The name of `pegboard` without a command is ""."""
    declared = dict(output for command in host_commands().values() for output in _declared(command.name, command.facts))
    return {"": StatusOutput, "--version": VersionOutput, **declared}


def _declared(name: str, facts: CommandFacts) -> Iterator[tuple[str, Any]]:
    """Yield the name and the type of a command, or of each command of a group, whose output has a type."""
    if output := _output(name, facts):
        yield name, output
    outputs = {word: _output(f"{name} {word}", facts.command(word)) for word in facts.commands}
    times = Counter(map(str, outputs.values()))
    for word, output in outputs.items():
        if output:
            yield SHARED_NAMES.get(name, name) if times[str(output)] > 1 else f"{name} {word}", output


def _output(name: str, facts: CommandFacts) -> Any:
    return OF_HOST.get(name) or (facts.output and function_named(facts.output))


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
