"""The rules of the MCP registry for `server.json`, for the members that our files have; others are not accepted.

They are those of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, which the workflow
`tests.yml` applies, too.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

_TEXT = {"type": "string", "minLength": 1}
_VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}


def _record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    properties = {**required, **optional}
    return {"type": "object", "required": [*required], "properties": properties, "additionalProperties": False}


_INPUT: dict[str, Any] = {
    "value": _TEXT,
    "description": _TEXT,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "isRequired": {"type": "boolean"},
}
_ARGUMENT = {
    "anyOf": [
        _record({"type": {"const": "named"}, "name": _TEXT}, **_INPUT),
        _record({"type": {"const": "positional"}, "value": _TEXT}),
    ]
}
_ARGUMENTS = {"type": "array", "items": _ARGUMENT}
_PACKAGE = _record(
    {
        "registryType": {"const": "pypi"},
        "identifier": _TEXT,
        "version": _VERSION,
        "transport": _record({"type": {"const": "stdio"}}),
    },
    runtimeHint={"const": "uvx"},
    runtimeArguments=_ARGUMENTS,
    packageArguments=_ARGUMENTS,
)
_SERVER = _record(
    {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "description": {**_TEXT, "maxLength": 100},
        "version": _VERSION,
        "packages": {"type": "array", "items": _PACKAGE},
    },
    title={**_TEXT, "maxLength": 100},
)


def check_server_json(description: Any) -> None:
    """Raise ValidationError if a description of a server is invalid."""
    Draft202012Validator(_SERVER).validate(description)
