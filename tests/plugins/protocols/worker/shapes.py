"""JSON Schemas of the worker's responses, written from the description of the protocol: every member, and no other."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]

KINDS = [
    *(f"TOOL_RUNTIME_{kind}" for kind in ("BAD_INPUT_VALUE", "BAD_OUTPUT_VALUE", "RETRY", "CONTEXT_REQUIRED", "FATAL")),
    *(f"UPSTREAM_RUNTIME_{kind}" for kind in ("BAD_REQUEST", "AUTH_ERROR", "NOT_FOUND", "VALIDATION_ERROR")),
    *(f"UPSTREAM_RUNTIME_{kind}" for kind in ("RATE_LIMIT", "SERVER_ERROR", "UNMAPPED")),
    *(f"NETWORK_TRANSPORT_RUNTIME_{kind}" for kind in ("TIMEOUT", "UNREACHABLE", "UNMAPPED")),
]


def members(**properties: Schema) -> Schema:
    """Return the schema of an object with all of these members. `meta` is `_meta`."""
    named = {"_meta" if name == "meta" else name: schema for name, schema in properties.items()}
    return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}


def some_of(*required: str, **properties: Schema) -> Schema:
    """Return the schema of an object with some of these members, none of them null."""
    return {**members(**properties), "required": list(required)}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


STRING, INTEGER, BOOLEAN, OBJECT = ({"type": name} for name in ("string", "integer", "boolean", "object"))
MAYBE_STRING, MAYBE_INTEGER, MAYBE_BOOLEAN, MAYBE_OBJECT = map(or_null, (STRING, INTEGER, BOOLEAN, OBJECT))
STRINGS = or_null(list_of(STRING))
INNER = ["string", "integer", "number", "boolean", "json"]
VALUE_SCHEMA: Schema = {"$ref": "#/$defs/value"}
VALUE = members(
    val_type={"enum": [*INNER, "array"]},
    inner_val_type={"enum": [*INNER, None]},
    enum=STRINGS,
    properties=or_null({"type": "object", "additionalProperties": VALUE_SCHEMA}),
    inner_properties=or_null({"type": "object", "additionalProperties": VALUE_SCHEMA}),
    description=MAYBE_STRING,
    required_keys=STRINGS,
    inner_required_keys=STRINGS,
    nullable=MAYBE_BOOLEAN,
)
DEFINITION: Schema = {"type": "object"}
"""A definition of a tool. The recorded definitions are compared whole."""
ERROR = members(
    message=STRING,
    kind={"enum": KINDS},
    developer_message=MAYBE_STRING,
    can_retry=BOOLEAN,
    additional_prompt_content=MAYBE_STRING,
    retry_after_ms=MAYBE_INTEGER,
    stacktrace=MAYBE_STRING,
    status_code=MAYBE_INTEGER,
    extra=MAYBE_OBJECT,
)
LOG = members(
    message=STRING, level={"enum": ["debug", "info", "warning", "error"]}, subtype={"enum": ["deprecation", None]}
)
WANTED = members(
    authorization_url=MAYBE_STRING, authorization_id=MAYBE_STRING, scopes=list_of(STRING), status=MAYBE_STRING
)
OUTPUT = members(value={}, logs=or_null(list_of(LOG)), error=or_null(ERROR), requires_authorization=or_null(WANTED))
SUCCESS = {"properties": {"success": {"const": True}, "output": {"properties": {"error": {"type": "null"}}}}}
FAILURE = {
    "properties": {
        "success": {"const": False},
        "output": {"properties": {"error": {"type": "object"}, "value": {"type": "null"}}},
    }
}
RESPONSE = {
    **members(execution_id=STRING, finished_at=STRING, duration={"type": "number"}, success=BOOLEAN, output=OUTPUT),
    "oneOf": [SUCCESS, FAILURE],
}
RESOURCE = some_of(
    "uri", "name", uri=STRING, name=STRING, title=STRING, description=STRING, mimeType=STRING, size=INTEGER, meta=OBJECT
)
CONTENTS = some_of("uri", uri=STRING, mimeType=STRING, text=STRING, blob=STRING, meta=OBJECT)
RESPONSES: dict[str, Schema] = {
    "health": members(status={"const": "ok"}, tool_count=STRING),
    "tools": list_of(DEFINITION),
    "tools/invoke": RESPONSE,
    "resources/list": some_of("resources", resources=list_of(RESOURCE), nextCursor=STRING),
    "resources/read": members(contents=list_of(CONTENTS)),
}
"""The body of a response with status 200, by path."""
REFUSAL, DENIAL = members(code=INTEGER, message=STRING), members(detail=STRING)
REFUSALS: dict[int, Schema] = {400: REFUSAL, 401: DENIAL, 403: STRING, 404: REFUSAL, 405: DENIAL, 500: {}}
"""The body of a response with another status."""


def check(path: str, status: int, body: Any) -> None:
    """Check a response of a path of the protocol."""
    check_value(RESPONSES[path] if status == 200 else REFUSALS[status], body)


def check_value(schema: Schema, value: Any) -> None:
    Draft202012Validator({**schema, "$defs": {"value": VALUE}}).validate(value)


def check_value_schema(value: Any) -> None:
    """Check a value schema: members of one object are known together, and required keys are sorted."""
    check_value(VALUE, value)
    assert (value["val_type"] == "array") == (value["inner_val_type"] is not None), value
    for keys, properties in (("required_keys", "properties"), ("inner_required_keys", "inner_properties")):
        assert (value[keys] is None) == (value[properties] is None), value
        assert value[keys] is None or set(value[keys]) <= value[properties].keys(), value
        assert value[keys] == (None if value[keys] is None else sorted(value[keys])), value
