"""Serializers of results that pydantic compiles from types.

They write `bytes` as base64, and NaN and infinities as such, so that the host detects them in the JSON.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import CoreConfig, CoreSchema, SchemaSerializer

from pegboard.schemas.binary import NO_SCHEMAS, with_base64_bytes

_CONFIGURED = ("model", "dataclass", "typed-dict")
"""The core schemas with a configuration of their own."""


def result_serializer(core: CoreSchema, *, has_bytes: bool) -> SchemaSerializer:
    """Return the serializer of results of one type.

    Args:
        core: the core schema of the type.
        has_bytes: True if the type contains `bytes`.
    """
    own = _with_constants(with_base64_bytes(core) if has_bytes else core)
    # the prebuilt serializer of a model would write NaN as null
    return SchemaSerializer(own, CoreConfig(ser_json_inf_nan="constants"), _use_prebuilt=False)


def _with_constants(core: Any) -> Any:
    """Return a core schema whose classes write NaN and infinities as such, unless their author decides otherwise."""
    if isinstance(core, list | tuple):
        return [_with_constants(one) for one in core]
    if not isinstance(core, dict):
        return core
    found = {name: one if name in NO_SCHEMAS else _with_constants(one) for name, one in core.items()}
    if core.get("type") in _CONFIGURED:
        found["config"] = {"ser_json_inf_nan": "constants", **core.get("config", {})}
    return found
