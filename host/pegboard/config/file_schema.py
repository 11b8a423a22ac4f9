"""The JSON Schema of `hostconfig.toml`, for editors and other programs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from docstring_parser import parse
from pydantic import BaseModel, ConfigDict
from pydantic.errors import PydanticInvalidForJsonSchema

from pegboard.config.models import HostSection

_REFERENCE = {
    "type": "object",
    "description": "the environment variable that has the value",
    "properties": {"env": {"type": "string"}},
    "required": ["env"],
    "additionalProperties": False,
}
_TO_REFERENCE = {"$ref": "#/$defs/reference"}
_EMPTY = {"type": "object", "additionalProperties": False}


class AnySettings(BaseModel):
    """Settings of a plugin that is not imported."""

    model_config = ConfigDict(extra="allow")


def file_schema(models: Mapping[str, Mapping[str, type[BaseModel] | None]]) -> dict[str, Any]:
    """Return the schema of a file.

    Args:
        models: the models of sections: `{"plugins": {name: model}, "toolkits": {name: model}}`. None means no settings.
    """
    definitions: dict[str, Any] = {"reference": _REFERENCE}
    sections: dict[str, Any] = {"host": _section(HostSection, "host", definitions)}
    _accept_references(sections["host"]["properties"]["state_keys"])
    for kind, of_kind in models.items():
        own = {}
        for name, model in of_kind.items():
            own[name] = _EMPTY if model is None else _section(model, f"{kind}.{name}", definitions)
            for table in (
                own[name],
                *(definition for key, definition in definitions.items() if key.startswith(f"{kind}.{name}.")),
            ):
                _accept_references(table)
        sections[kind] = {**_EMPTY, "properties": own}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hostconfig.toml"}
    return {**schema, **_EMPTY, "properties": sections, "$defs": definitions}


def _section(model: type[BaseModel], path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a section, and add the schemas that it refers to. Variables may set its required keys."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of defaults that are not JSON
            schema = model.model_json_schema(ref_template=f"#/$defs/{path}.{{model}}")
    except PydanticInvalidForJsonSchema:
        return {"type": "object"}
    definitions |= {f"{path}.{name}": definition for name, definition in schema.pop("$defs", {}).items()}
    schema.pop("required", None)
    schema.pop("description", None)
    meanings = {parameter.arg_name: parameter.description for parameter in parse(model.__doc__ or "").params}
    for name, field in schema.get("properties", {}).items():
        if "description" not in field and (meaning := meanings.get(name)):
            field["description"] = " ".join(meaning.split())
    return schema


def _accept_references(schema: dict[str, Any]) -> None:
    """Accept `{ env = "NAME" }` for every key of a table, every value of a map and every item of a list."""
    for branch in (branch for key in ("anyOf", "oneOf", "allOf") for branch in schema.get(key, ())):
        _accept_references(branch)
    if type(properties := schema.get("properties")) is dict:
        schema["properties"] = {name: _or_reference(field) for name, field in properties.items()}
    for key in ("additionalProperties", "items"):
        if type(subschema := schema.get(key)) is dict:
            schema[key] = _or_reference(subschema)
    if "prefixItems" in schema:
        schema["prefixItems"] = [_or_reference(item) for item in schema["prefixItems"]]


def _or_reference(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts a reference. Its notes for editors stay outside."""
    notes: dict[str, Any] = {key: schema.pop(key) for key in ("description", "default", "title") if key in schema}
    _accept_references(schema)
    return {**notes, "anyOf": [schema, _TO_REFERENCE]}
