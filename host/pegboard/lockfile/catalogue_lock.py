"""The content of a lock file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from pegboard.errors import PluginError
from pegboard.records import NamedTuple
from pegboard.types.catalogue import ItemKind

LOCK_FORMAT = 1
"""The version of the format of the file."""

CANONICAL_FORM = 1
"""The version of the canonical form and of the digests."""

LOCKED_KINDS: tuple[ItemKind, ...] = ("tools", "resources", "prompts")


class LockFileError(PluginError):
    """A lock file is missing, is not trusted, or cannot be read."""


class LockedDefinition(NamedTuple):
    """An accepted definition.

    Attributes:
        digest: the digest of `definition`, for reviews and other programs.
        definition: the definition; see `definition_object`.
    """

    digest: str
    definition: Mapping[str, Any]


class LockedOwner(NamedTuple):
    """A toolkit, a plugin or a mounted server, with its accepted definitions.

    Attributes:
        distribution: its distribution; "" without one.
        version: the version of the distribution; "" without one.
        description: the description of the toolkit; "" without one.
        hooks: the names of the hooks with which it contributes more than tools, resources and prompts.
        settings_schema: the JSON Schema of its settings; None if it has no settings, or their schema is not JSON.
        settings_digest: the digest of its settings, secrets masked.
        tools: the tools by name on the wire.
        resources: the resources by URI, and the templates by URI template.
        prompts: the prompts by name on the wire.
    """

    distribution: str = ""
    version: str = ""
    description: str = ""
    hooks: tuple[str, ...] = ()
    settings_schema: Mapping[str, Any] | None = None
    settings_digest: str = ""
    tools: Mapping[str, LockedDefinition] = {}
    resources: Mapping[str, LockedDefinition] = {}
    prompts: Mapping[str, LockedDefinition] = {}

    def items(self, kind: ItemKind) -> Mapping[str, LockedDefinition]:
        """Return the definitions of one kind."""
        found: Mapping[str, LockedDefinition] = getattr(self, kind)
        return found


class CatalogueLock(NamedTuple):
    """The content of a lock file.

    Attributes:
        owners: the owners, by `toolkit:NAME`, `plugin:NAME` or `plugin:NAME/SERVER`.
        host_digest: the digest of the settings of `[host]` that change definitions.
    """

    owners: Mapping[str, LockedOwner]
    host_digest: str = ""


def parse_lock(data: bytes) -> CatalogueLock:
    """Return the content of a lock file.

    Raises:
        LockFileError: the text is not the text of a lock file, or has another format.
    """
    try:
        tree = from_json(data)
    except ValueError as error:
        raise LockFileError(f"is not JSON: {error}") from None
    if not isinstance(tree, dict) or "format" not in tree:
        raise LockFileError('is not a lock file: it has no member "format"')
    versions = tree["format"], tree.get("canonical_form")
    if versions != (LOCK_FORMAT, CANONICAL_FORM):
        raise LockFileError(
            f"has format {versions[0]!r} and canonical form {versions[1]!r}; "
            f"this host reads format {LOCK_FORMAT} and canonical form {CANONICAL_FORM}"
        )
    try:
        owners = {str(name): _owner(one) for name, one in tree["owners"].items()}
        return CatalogueLock(owners, str(tree.get("host_digest", "")))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LockFileError(f"is damaged: {type(error).__name__}: {error}") from None


def _owner(tree: dict[str, Any]) -> LockedOwner:
    schema = tree.get("settings_schema")
    if not isinstance(schema, dict | None):
        raise TypeError("settings_schema must be an object")
    return LockedOwner(
        distribution=_text(tree.get("distribution", "")),
        version=_text(tree.get("version", "")),
        description=_text(tree.get("description", "")),
        hooks=tuple(map(_text, tree.get("hooks", ()))),
        settings_schema=schema,
        settings_digest=_text(tree.get("settings_digest", "")),
        tools=_items(tree.get("tools", {})),
        resources=_items(tree.get("resources", {})),
        prompts=_items(tree.get("prompts", {})),
    )


def _items(tree: dict[str, Any]) -> dict[str, LockedDefinition]:
    return {name: LockedDefinition(_text(one["digest"]), _object(one["definition"])) for name, one in tree.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} must be a string")
    return value


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.60} must be an object")
    return value
