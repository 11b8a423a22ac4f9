"""The checks of a definition's options. The function is checked elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.catalogue.shown_texts import check_shown_text
from pegboard.catalogue.tool_requirements import check_authorization
from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import ToolAnnotations
from pegboard.wire.meta_keys import meta_complaint

MAX_TITLE_CHARACTERS = 256
"""The maximum length of a name or title."""
MAX_DESCRIPTION_CHARACTERS = 16 * 1024
"""The maximum length of a description."""
MAX_TAG_CHARACTERS = 64
"""The maximum length of a tag."""
MAX_TIMEOUT_SECONDS = 7 * 24 * 3600
"""The maximum time limit."""

CLIENT_ID = "client_id"
"""The metadata key for the id of the client to which a tool's token was issued."""


def check_options(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    """Check that options can be served. Clients reject a whole list if one member violates the schema.

    Raises:
        ToolDefinitionError: an option is invalid.
    """
    hints = getattr(definition, "annotations", None)
    _check_texts(definition, hints)
    if definition.meta is not None and (complaint := meta_complaint(definition.meta)):
        raise ToolDefinitionError(f"its meta: {complaint}")
    if not isinstance(getattr(definition, "extensions", EMPTY), Mapping):
        raise ToolDefinitionError("its extensions must be a dict {identifier: value}")
    _check_lists(definition)
    for tag in definition.tags:
        _check_tag(tag)
    _check_shown(definition)
    _check_max_result(getattr(definition, "max_result", None))
    if isinstance(definition, ToolDefinition):
        _check_tool(definition)
        if hints is not None:
            _check_hints(hints)


def _check_tool(definition: ToolDefinition) -> None:
    for secret in definition.requires_secrets:
        _check_key("secret", secret)
    for key in definition.requires_metadata:
        _check_key("metadata", key)
    for name in ("strict", "inline"):
        _check_flag(f"its {name}", getattr(definition, name), bool)
    if definition.requires_auth is not None or definition.scopes:
        check_authorization(definition)
    if CLIENT_ID in map(str.lower, definition.requires_metadata) and definition.requires_auth is None:
        raise ToolDefinitionError(f"the tool requires the metadata {CLIENT_ID} without a token: set requires_auth")
    _check_timeout(definition.timeout, is_inline=definition.inline)
    _check_task(definition)
    if definition.arguments:
        from pegboard.authoring.transformed import check_changes

        check_changes(definition.arguments)
    _check_adapters(definition.adapters)


def _check_tag(tag: object) -> None:
    if not isinstance(tag, str) or not tag.strip():
        raise ToolDefinitionError(f"invalid tag {tag!r}: tags are visible strings")
    check_shown_text("tag", tag, MAX_TAG_CHARACTERS)


def _check_lists(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    for name in ("scopes", "requires_secrets", "requires_metadata", "tags"):
        value = getattr(definition, name, ())
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise ToolDefinitionError(f"its {name} must be a list of names, not {value!r}")


def _check_key(what: str, key: object) -> None:
    """Check that a name is printable and can be the name of a variable and of a file."""
    if not isinstance(key, str) or not key.isprintable() or not key or set(key) & set(" =/\\"):
        raise ToolDefinitionError(
            f"invalid {what} name {key!r}: use visible characters other than spaces, = and slashes"
        )


def _check_texts(definition: ToolDefinition | ResourceDefinition | PromptDefinition, hints: object) -> None:
    texts = {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "mime_type": getattr(definition, "mime_type", None),
        "annotations.title": hints.title if isinstance(hints, ToolAnnotations) else None,
    }
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ToolDefinitionError(f"its {name} must be a string, not {value!r}")
        if value:
            check_shown_text(name, value, MAX_DESCRIPTION_CHARACTERS if name == "description" else MAX_TITLE_CHARACTERS)


def _check_adapters(adapters: object) -> None:
    if not isinstance(adapters, Sequence):
        raise ToolDefinitionError(f"its adapters must be a list, not {adapters!r}")
    for adapter in adapters:
        if isinstance(adapter, type):
            raise ToolDefinitionError(f"the error adapter {adapter.__name__} is a class: pass an instance")
        if not isinstance(getattr(adapter, "slug", None), str) or not callable(
            getattr(adapter, "from_exception", None)
        ):
            raise ToolDefinitionError(
                f"invalid error adapter {adapter!r}: define `slug` and the method `from_exception`"
            )


def _check_task(definition: ToolDefinition) -> None:
    if definition.task not in (None, "optional", "required"):
        raise ToolDefinitionError(f"its task must be 'optional' or 'required', not {definition.task!r}")
    _check_timeout(definition.task_timeout, "task_timeout", is_inline=False)
    if not all(isinstance(name, str) for name in definition.task_asks):
        raise ToolDefinitionError(f"its task_asks must be names of questions, not {definition.task_asks!r}")
    if definition.task and definition.inline:
        raise ToolDefinitionError("an inline tool cannot run as a task: remove `inline` or `task`")


def _check_timeout(timeout: Any, option: str = "timeout", *, is_inline: bool) -> None:
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_TIMEOUT_SECONDS:
        raise ToolDefinitionError(f"its {option} must be a number of seconds, 0 for no limit, not {timeout!r}")
    if timeout and is_inline:
        raise ToolDefinitionError("an inline tool cannot be interrupted: remove `inline` or `timeout`")


def _check_max_result(size: Any) -> None:
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise ToolDefinitionError(f"its max_result must be a number of bytes, 0 for no limit, not {size!r}")


def _check_hints(hints: object) -> None:
    if not isinstance(hints, ToolAnnotations):
        raise ToolDefinitionError(
            f"its annotations must be ToolAnnotations(read_only=..., extra={{...}}), not {hints!r}"
        )
    if not isinstance(hints.extra, Mapping):
        raise ToolDefinitionError(f"its annotations: extra must be a dict, not {hints.extra!r}")
    for name in ("read_only", "destructive", "idempotent", "open_world"):
        _check_flag(f"its annotation {name}", getattr(hints, name), bool | None)
    check_sense(hints)


def _check_flag(what: str, value: object, kind: Any) -> None:
    if not isinstance(value, kind):
        raise ToolDefinitionError(f"{what} must be true or false, not {value!r}")


def check_sense(hints: ToolAnnotations) -> None:
    """Check that the hints do not contradict each other.

    Raises:
        ToolDefinitionError: the hints contradict each other.
    """
    if hints.read_only and hints.destructive:
        raise ToolDefinitionError("a read_only tool cannot be destructive: remove one of the two hints")


def _check_shown(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    """Check icons, annotations and size. Import the rules only if one of these options is set."""
    resource = definition if isinstance(definition, ResourceDefinition) else None
    if not definition.icons and (resource is None or (resource.annotations is None and resource.size is None)):
        return
    from pegboard.content.rules import ContentError, check_annotations, check_icons, check_size

    try:
        check_icons(definition.icons)
        if resource is not None:
            check_annotations(resource.annotations)
            check_size(resource.size)
    except ContentError as error:
        raise ToolDefinitionError(f"its {error}") from None
