"""The published schema of the output of commands."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from tools.install import ROOT


def problems(name: str, value: Any) -> list[str]:
    """Return how a value breaks the published schema of a name, or has members that the schema lacks."""
    published = json.loads((ROOT / "docs/output.schema.json").read_text("utf-8"))
    for schema in published["$defs"].values():
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
    validator = Draft202012Validator({"$defs": published["$defs"], "$ref": f"#/$defs/{name.replace(' ', '%20')}"})
    return [error.message for error in validator.iter_errors(value)]
