"""Tools as ToolDefinitions. Members without a value are null."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from pegboard import ToolMetadata
from pegboard.types import Tool, ToolAuthorization
from pegboard_plugins.protocols.worker.value_schema import ANY_JSON, ValueSchema, value_schema_of

NO_DESCRIPTION = "No description provided."
_INFERRABLE = "x-inferrable"


def pascal(name: str) -> str:
    """Return a name in Pascal case, `ListIssues` for `list_issues`. Other separators are kept."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def tool_definition(tool: Tool) -> dict[str, Any]:
    """Return the ToolDefinition of a tool."""
    metadata = None if tool.definition is None else tool.definition.metadata
    toolkit, name = pascal(re.sub(r"[-\s.]+", "_", tool.owner)), pascal(own_name(tool))
    return {
        "name": name,
        "fully_qualified_name": f"{toolkit}.{name}",
        "description": tool.description,
        "toolkit": {"name": toolkit, "description": tool.owner_description, "version": tool.version},
        "input": {"parameters": _parameters(tool.input_schema)},
        "output": _output(tool),
        "requirements": _requirements(tool),
        "deprecation_message": tool.deprecated,
        "metadata": None if metadata is None else _metadata(metadata),
        "_meta": {"ui": tool.meta["ui"]} if tool.meta and "ui" in tool.meta else None,
    }


def _parameters(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    parameters = []
    for name, field in schema.get("properties", {}).items():
        value = value_schema_of(field, schema)
        is_required = name in required
        # an optional parameter may be null, which its schema does not repeat
        shown = value._replace(description=None, nullable=value.nullable and is_required)
        extras = field if isinstance(field, Mapping) else {}
        parameters.append(
            {
                "name": name,
                "required": is_required,
                "description": value.description,
                "value_schema": shown.to_json(),
                "inferrable": bool(extras.get(_INFERRABLE, True)),
            }
        )
    return parameters


def result_schema(tool: Tool) -> ValueSchema | None:
    """Return the value schema of a tool's result, or None if the tool returns nothing."""
    if tool.output_schema is not None:
        return value_schema_of(tool.output_schema, tool.output_schema)
    declared = return_type(tool)
    if declared is type(None):
        return None
    return ValueSchema("string") if declared is str else ANY_JSON


def own_name(tool: Tool) -> str:
    """Return the last part of a tool's name, as the author wrote it."""
    return (tool.definition and tool.definition.name) or tool.name


def return_type(tool: Tool) -> Any:
    """Return the declared type of a tool's result, `type(None)` for None, or Any if it is unknown."""
    if tool.definition is None:
        return Any
    try:
        declared = inspect.signature(tool.definition.function, eval_str=True).return_annotation
    except (TypeError, ValueError, NameError):
        return Any
    if get_origin(declared) is Annotated:
        declared = get_args(declared)[0]
    return type(None) if declared is None else declared


def _output(tool: Tool) -> dict[str, Any]:
    value = result_schema(tool)
    if value is None:
        return {"description": NO_DESCRIPTION, "available_modes": ["null"], "value_schema": None}
    modes = ["value", "error", "null"] if value.nullable else ["value", "error"]
    shown = value._replace(description=None, nullable=False)
    return {
        "description": value.description or NO_DESCRIPTION,
        "available_modes": modes,
        "value_schema": shown.to_json(),
    }


def _requirements(tool: Tool) -> dict[str, Any]:
    needed = tool.requires
    if needed is None:
        return {"authorization": None, "secrets": None, "metadata": None}
    return {
        "authorization": None if needed.authorization is None else _authorization(needed.authorization),
        "secrets": _keys(needed.secrets),
        "metadata": _keys(needed.metadata),
    }


def _authorization(needed: ToolAuthorization) -> dict[str, Any]:
    return {
        "provider_id": needed.provider_id,
        "provider_type": needed.provider_type,
        "id": needed.id,
        "oauth2": {"scopes": list(needed.scopes) or None},
    }


def _keys(names: tuple[str, ...]) -> list[dict[str, str]] | None:
    return [{"key": name} for name in names] or None


def _metadata(metadata: ToolMetadata) -> dict[str, Any]:
    kind, does = metadata.classification, metadata.behavior
    return {
        "classification": None if kind is None else {"service_domains": _listed(kind.service_domains)},
        "behavior": None
        if does is None
        else {
            "operations": _listed(does.operations),
            "read_only": does.read_only,
            "destructive": does.destructive,
            "idempotent": does.idempotent,
            "open_world": does.open_world,
        },
        "extras": None if metadata.extras is None else dict(metadata.extras),
    }


def _listed(names: Any) -> list[str] | None:
    return [str(name) for name in names] or None
