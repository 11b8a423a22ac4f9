"""Validators of arguments that need no conversion. They validate decoded JSON, so that it is not encoded again.

They exist for types that read a JSON value and the equal Python value alike: models and TypedDicts of strings, numbers,
booleans, lists and dicts. Strings, numbers and booleans must have exactly the declared type. Arguments that such a
validator rejects may still be valid: the caller then validates them as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import CoreConfig, CoreSchema, SchemaValidator, core_schema

_ATOMS = frozenset(("str", "int", "float", "bool"))
_UNCHANGED = frozenset(("none", "definition-ref"))
_INNER: Mapping[str, tuple[str, ...]] = {
    "list": ("items_schema",),
    "dict": ("keys_schema", "values_schema"),
    "nullable": ("schema",),
    "default": ("schema",),
    "model": ("schema",),
    "definitions": ("schema",),
}
"""The core schemas inside of each type of core schema."""
_CONTAINERS = ("list", "dict")
_FIELDS = frozenset(("typed-dict", "model-fields"))
_UNUSUAL = frozenset(("custom_init", "root_model", "extras_schema", "extras_keys_schema"))


class _ConvertedError(Exception):
    """A type may read JSON differently from Python values."""


def exact_validator(core: CoreSchema) -> Callable[[Any], dict[str, Any]] | None:
    """Return a validator of arguments that need no conversion, or None if a type may need one.

    Args:
        core: the core schema of the arguments.
    """
    try:
        # the prebuilt validator of a model would convert
        return SchemaValidator(_exact(core), _use_prebuilt=False).validate_python
    except _ConvertedError:
        return None


def _exact(core: Any) -> Any:
    kind = core["type"]
    if kind in _ATOMS:
        return {**core, "strict": True}
    if kind in _UNCHANGED:
        return core
    if kind == "literal" and all(type(one) is str for one in core["expected"]):
        return core
    config: CoreConfig = core.get("config", {})
    extra = core.get("extra_behavior", config.get("extra_fields_behavior"))
    if _UNUSUAL.intersection(name for name in core if core[name]) or extra == "allow" or config.get("strict"):
        raise _ConvertedError
    if kind in _FIELDS:
        fields = {name: {**field, "schema": _exact(field["schema"])} for name, field in core["fields"].items()}
        return {**core, "fields": fields}
    if kind not in _INNER or (kind == "dict" and core.get("keys_schema", {}).get("type") != "str"):
        raise _ConvertedError
    found = {**core, **{name: _exact(core[name]) for name in _INNER[kind]}}
    if kind in _CONTAINERS:
        found["strict"] = True
    if kind == "definitions":
        found["definitions"] = [_exact(one) for one in core["definitions"]]
    if kind != "model":
        return found
    ref = found.pop("ref", None)
    # an instance of the model is not JSON
    return core_schema.chain_schema([core_schema.is_instance_schema(dict), found], ref=ref)
