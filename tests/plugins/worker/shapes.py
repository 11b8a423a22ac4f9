"""What the worker's answers look like, written from the protocol's description: every member there, and no other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

Check = Callable[[Any], None]

KINDS = frozenset(
    (
        "TOOL_RUNTIME_BAD_INPUT_VALUE",
        "TOOL_RUNTIME_BAD_OUTPUT_VALUE",
        "TOOL_RUNTIME_RETRY",
        "TOOL_RUNTIME_CONTEXT_REQUIRED",
        "TOOL_RUNTIME_FATAL",
        "UPSTREAM_RUNTIME_BAD_REQUEST",
        "UPSTREAM_RUNTIME_AUTH_ERROR",
        "UPSTREAM_RUNTIME_NOT_FOUND",
        "UPSTREAM_RUNTIME_VALIDATION_ERROR",
        "UPSTREAM_RUNTIME_RATE_LIMIT",
        "UPSTREAM_RUNTIME_SERVER_ERROR",
        "UPSTREAM_RUNTIME_UNMAPPED",
        "NETWORK_TRANSPORT_RUNTIME_TIMEOUT",
        "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE",
        "NETWORK_TRANSPORT_RUNTIME_UNMAPPED",
    )
)


def is_a(*types: type) -> Check:
    """Of one of these types, of which bool is never a number."""

    def check(value: Any) -> None:
        assert type(value) in types, value

    return check


def among(*values: Any) -> Check:
    """One of these values."""

    def check(value: Any) -> None:
        assert type(value) in {type(one) for one in values}, value
        assert value in values, value

    return check


def or_null(inner: Check) -> Check:
    """That, or null."""

    def check(value: Any) -> None:
        if value is not None:
            inner(value)

    return check


def list_of(inner: Check) -> Check:
    """An array of that."""

    def check(value: Any) -> None:
        assert isinstance(value, list), value
        for one in value:
            inner(one)

    return check


def map_of(inner: Check) -> Check:
    """An object whose members are that, by any names."""

    def check(value: Any) -> None:
        assert isinstance(value, dict), value
        for one in value.values():
            inner(one)

    return check


def members(**wanted: Check) -> Check:
    """An object with these members in this order, all there and no other. `meta` is `_meta`."""
    named = {"_meta" if name == "meta" else name: inner for name, inner in wanted.items()}

    def check(value: Any) -> None:
        assert isinstance(value, dict), value
        assert list(value) == list(named), value
        for name, inner in named.items():
            inner(value[name])

    return check


def some_of(*required: str, **wanted: Check) -> Check:
    """An object with some of these members, none of them null, and no other. `meta` is `_meta`."""
    named = {"_meta" if name == "meta" else name: inner for name, inner in wanted.items()}

    def check(value: Any) -> None:
        assert isinstance(value, dict), value
        assert set(required) <= value.keys() <= named.keys(), value
        for name, one in value.items():
            assert one is not None, value
            named[name](one)

    return check


def anything(value: Any) -> None:
    """Any JSON value."""


TEXT, MAYBE_TEXT, MAYBE_BOOL = is_a(str), or_null(is_a(str)), or_null(is_a(bool))
OBJECT = is_a(dict)


def value_schema(value: Any) -> None:
    """A ValueSchema, however deep."""
    inner = ("string", "integer", "number", "boolean", "json")
    members(
        val_type=among(*inner, "array"),
        inner_val_type=or_null(among(*inner)),
        enum=or_null(list_of(TEXT)),
        properties=or_null(map_of(value_schema)),
        inner_properties=or_null(map_of(value_schema)),
        description=MAYBE_TEXT,
        required_keys=or_null(list_of(TEXT)),
        inner_required_keys=or_null(list_of(TEXT)),
        nullable=MAYBE_BOOL,
    )(value)
    assert (value["val_type"] == "array") == (value["inner_val_type"] is not None), value
    for keys, properties in (("required_keys", "properties"), ("inner_required_keys", "inner_properties")):
        assert (value[keys] is None) == (value[properties] is None), value
        if value[keys] is not None:
            assert value[keys] == sorted(value[keys]), value
            assert set(value[keys]) <= value[properties].keys(), value


KEYS = or_null(list_of(members(key=TEXT)))

definition = members(
    name=TEXT,
    fully_qualified_name=TEXT,
    description=TEXT,
    toolkit=members(name=TEXT, description=MAYBE_TEXT, version=MAYBE_TEXT),
    input=members(
        parameters=list_of(
            members(
                name=TEXT, required=is_a(bool), description=MAYBE_TEXT, value_schema=value_schema, inferrable=is_a(bool)
            )
        )
    ),
    output=members(
        description=MAYBE_TEXT,
        available_modes=list_of(among("value", "error", "null")),
        value_schema=or_null(value_schema),
    ),
    requirements=members(
        authorization=or_null(
            members(
                provider_id=MAYBE_TEXT,
                provider_type=among("oauth2"),
                id=MAYBE_TEXT,
                oauth2=or_null(members(scopes=or_null(list_of(TEXT)))),
            )
        ),
        secrets=KEYS,
        metadata=KEYS,
    ),
    deprecation_message=MAYBE_TEXT,
    metadata=or_null(
        members(
            classification=or_null(members(service_domains=or_null(list_of(TEXT)))),
            behavior=or_null(
                members(
                    operations=or_null(list_of(among("read", "create", "update", "delete", "opaque"))),
                    read_only=MAYBE_BOOL,
                    destructive=MAYBE_BOOL,
                    idempotent=MAYBE_BOOL,
                    open_world=MAYBE_BOOL,
                )
            ),
            extras=or_null(OBJECT),
        )
    ),
    meta=or_null(OBJECT),
)

error = members(
    message=TEXT,
    kind=among(*sorted(KINDS)),
    developer_message=MAYBE_TEXT,
    can_retry=is_a(bool),
    additional_prompt_content=MAYBE_TEXT,
    retry_after_ms=or_null(is_a(int)),
    stacktrace=MAYBE_TEXT,
    status_code=or_null(is_a(int)),
    extra=or_null(OBJECT),
)


def moment(value: Any) -> None:
    """A moment as ISO 8601 writes it."""
    datetime.fromisoformat(value)


def response(value: Any) -> None:
    """A ToolCallResponse."""
    members(
        execution_id=TEXT,
        finished_at=moment,
        duration=is_a(float),
        success=is_a(bool),
        output=members(
            value=anything,
            logs=or_null(
                list_of(
                    members(
                        message=TEXT,
                        level=among("debug", "info", "warning", "error"),
                        subtype=or_null(among("deprecation")),
                    )
                )
            ),
            error=or_null(error),
            requires_authorization=or_null(
                members(
                    authorization_url=MAYBE_TEXT, authorization_id=MAYBE_TEXT, scopes=list_of(TEXT), status=MAYBE_TEXT
                )
            ),
        ),
    )(value)
    output = value["output"]
    assert value["success"] is (output["error"] is None), value
    assert output["error"] is None or output["value"] is None, value


health = members(status=among("ok"), tool_count=TEXT)
resource = some_of(
    "uri", "name", uri=TEXT, name=TEXT, title=TEXT, description=TEXT, mimeType=TEXT, size=is_a(int), meta=OBJECT
)
resources = some_of("resources", resources=list_of(resource), nextCursor=TEXT)
contents = some_of("uri", uri=TEXT, mimeType=TEXT, text=TEXT, blob=TEXT, meta=OBJECT)
refusal = members(code=is_a(int), message=TEXT)
denial = members(detail=TEXT)

ANSWERS: dict[str, Check] = {
    "health": health,
    "tools": list_of(definition),
    "tools/invoke": response,
    "resources/list": resources,
    "resources/read": members(contents=list_of(contents)),
}
"""What each path answers with 200."""

REFUSALS: dict[int, Check] = {400: refusal, 401: denial, 403: TEXT, 404: refusal, 405: denial, 500: anything}
"""What it answers with any other status."""


def check(path: str, status: int, body: Any) -> None:
    """Hold what came back against the description; paths that the protocol does not know are no part of it."""
    if path not in ANSWERS:
        assert status == 404
    elif status == 200:
        ANSWERS[path](body)
    else:
        REFUSALS[status](body)
