"""Changed copies of tools, and changes of their arguments. Imported only for such tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, Unpack

from pegboard.authoring import as_definition, tool_fields
from pegboard.errors import ToolDefinitionError
from pegboard.names import did_you_mean
from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.options import ToolOptions
from pegboard.types.parameters import ArgumentChange

Changes: TypeAlias = Mapping[str, ArgumentChange]


def transformed(tool: Callable[..., Any] | ToolDefinition, /, **options: Unpack[ToolOptions]) -> ToolDefinition:
    """Return a copy of a tool with other options, for `Toolkit.add` and `register_tools`. The tool stays unchanged.

    Args:
        tool: a function, a result of `@tool`, or a definition.
        options: the options to replace. `arguments` changes single arguments, named as clients of the tool see them.

    Raises:
        TypeError: an option does not exist.
        ToolDefinitionError: an argument does not exist.
    """
    definition = as_definition(tool)
    fields = tool_fields(options)
    if definition.arguments and "arguments" in fields:
        fields["arguments"] = combined(definition.arguments, fields["arguments"])
    return definition._replace(**fields)


def check_changes(changes: object) -> None:
    """Check the types of an author's changes.

    Raises:
        ToolDefinitionError: a change has the wrong type.
    """
    if not isinstance(changes, Mapping):
        raise ToolDefinitionError(f"its arguments must be a dict of ArgumentChange by name, not {changes!r}")
    for name, change in changes.items():
        where = f"its arguments: the change of {name!r}"
        if not isinstance(change, ArgumentChange):
            raise ToolDefinitionError(f"{where} must be an ArgumentChange, not {type(change).__name__}")
        values: dict[str, Any] = change._asdict()
        for field in ("name", "description"):
            if not isinstance(values[field], str | None) or values[field] == "":
                raise ToolDefinitionError(f"{where}: its {field} must be a string, not {values[field]!r}")
        if change.removes and (change.name or change.description):
            raise ToolDefinitionError(f"{where} hides the argument, so remove its name and description")


def combined(first: Changes, then: Changes) -> Changes:
    """Return changes of changed arguments as changes of the original arguments.

    Raises:
        ToolDefinitionError: a change is invalid, or there is no argument of that name after the first changes.
    """
    check_changes(first)
    check_changes(then)
    originals = {change.name or name: name for name, change in first.items() if not change.removes}
    changes = dict(first)
    for name, change in then.items():
        original = originals.get(name, name)
        before = first.get(original, ArgumentChange())
        if original in first and name not in originals:
            raise unknown_argument(name, originals)
        if not change.removes:
            change = ArgumentChange(change.name or before.name, change.description or before.description)
        changes[original] = change
    return changes


def unknown_argument(name: str, names: Mapping[str, Any]) -> ToolDefinitionError:
    """Return the error for a change of an argument that does not exist."""
    hint = did_you_mean(name, names) or f"; there are: {', '.join(map(repr, names)) or 'none'}"
    return ToolDefinitionError(f"there is no argument {name!r} to change{hint}")
