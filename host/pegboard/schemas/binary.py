"""`bytes` as base64 (RFC 4648 section 4) in arguments and results. pydantic uses UTF-8, or the base64 of URLs.

Serializers of results also write NaN and infinities as such, so that the host detects them in the JSON.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import EncodedBytes
from pydantic_core import (
    CoreConfig,
    CoreSchema,
    PydanticKnownError,
    PydanticSerializationUnexpectedValue,
    SchemaSerializer,
    core_schema,
)

from pegboard.wire.codec import with_base64

NO_SCHEMAS = frozenset(("metadata", "default", "expected", "config", "members"))
"""The members of a core schema that hold no core schemas."""


def with_base64_bytes(schema: Any) -> Any:
    """Return a core schema with base64 in place of `bytes`, or the schema itself if it contains none."""
    if isinstance(schema, list | tuple):
        items = [with_base64_bytes(item) for item in schema]
        return items if any(new is not old for new, old in zip(items, schema, strict=True)) else schema
    if not isinstance(schema, dict) or _is_encoded(schema):
        return schema
    if schema.get("type") == "bytes":
        return _bytes(schema)
    replaced = {name: value if name in NO_SCHEMAS else with_base64_bytes(value) for name, value in schema.items()}
    return replaced if any(replaced[name] is not value for name, value in schema.items()) else schema


def _is_encoded(schema: Mapping[str, Any]) -> bool:
    """Return True for `Base64Bytes` and similar types, which convert the string themselves."""
    function = schema.get("function")
    call = function.get("function") if isinstance(function, dict) else None
    return isinstance(getattr(call, "__self__", None), EncodedBytes)


def _bytes(schema: Mapping[str, Any]) -> CoreSchema:
    plain: Any = {name: value for name, value in schema.items() if name not in ("serialization", "ref")}
    decode = core_schema.no_info_plain_validator_function(_decoded)
    written = core_schema.plain_serializer_function_ser_schema(_encoded, when_used="json")
    return core_schema.json_or_python_schema(
        json_schema=core_schema.chain_schema([core_schema.str_schema(strict=True), decode, plain]),
        python_schema=plain,
        ref=schema.get("ref"),
        serialization=schema.get("serialization", written),
    )


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise PydanticKnownError("bytes_invalid_encoding", {"encoding": "base64", "encoding_error": ""}) from None


def _encoded(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise PydanticSerializationUnexpectedValue("not bytes")  # another member of a union fits
    return b64encode(value).decode()


_CONFIGURED = ("model", "dataclass", "typed-dict")
"""The core schemas with a configuration of their own."""


def result_serializer(core: CoreSchema, *, has_bytes: bool) -> SchemaSerializer:
    """Return the serializer of results of one type.

    Args:
        core: the core schema of the type.
        has_bytes: True if the type contains `bytes`.
    """
    own = _prepared(with_base64_bytes(core) if has_bytes else core)
    # the prebuilt serializer of a model would write NaN as null
    return SchemaSerializer(own, CoreConfig(ser_json_inf_nan="constants"), _use_prebuilt=False)


def _prepared(core: Any) -> Any:
    """Return a core schema whose classes write NaN and infinities as such, unless their author decides otherwise.

    Values of type `Any` write `bytes` as base64.
    """
    if isinstance(core, list | tuple):
        return [_prepared(item) for item in core]
    if not isinstance(core, dict):
        return core
    prepared = {name: value if name in NO_SCHEMAS else _prepared(value) for name, value in core.items()}
    if core.get("type") in _CONFIGURED:
        prepared["config"] = {"ser_json_inf_nan": "constants", **core.get("config", {})}
    elif core.get("type") == "any":
        written = core_schema.wrap_serializer_function_ser_schema(_write_any, when_used="json")
        prepared.setdefault("serialization", written)
    return prepared


def _write_any(value: Any, write: Callable[[Any], Any]) -> Any:
    return write(with_base64(value))
