"""OpenAPI 3.0 schemas as JSON Schema (2020-12). They differ in `nullable` and in keywords that only describe.

`oneOf` is read as `anyOf`: GitHub writes it of schemas that overlap, such as `basic-error` and one that adds to it, of
which each instance of the first would then be refused.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from jsonschema import FormatChecker

ONLY_DESCRIBE = frozenset({"deprecated", "example", "readOnly", "title", "x-multi-segment"})

FORMATS = FormatChecker(formats=())


def converted(node: Any) -> Any:
    """Convert one schema and all that it holds."""
    if isinstance(node, list):
        return [converted(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: converted(schema) for name, schema in value.items()}
        elif key in ("enum", "default", "required"):
            kept[key] = value
        elif key not in ONLY_DESCRIBE and key != "nullable":
            kept["anyOf" if key == "oneOf" else key] = converted(value)
    if node.get("nullable"):
        return {"anyOf": [kept, {"type": "null"}]}
    return kept


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    if isinstance(value, str):
        if not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", value):
            return False
        datetime.fromisoformat(value)
    return True


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", value) is not None
