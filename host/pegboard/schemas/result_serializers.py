"""Serializers of results that pydantic compiles from types.

They write `bytes` as base64, also in values of type `Any`. They write NaN and infinities as such, so that the host
detects them in the JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import CoreConfig, CoreSchema, SchemaSerializer, core_schema

from pegboard.schemas.binary import NO_SCHEMAS, with_base64_bytes
from pegboard.wire.codec import with_base64

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
