"""The content of a lock file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.plugin import PluginError
from pegboard.types import ItemKind

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
        items: Mapping[str, LockedDefinition] = getattr(self, kind)
        return items


class CatalogueLock(NamedTuple):
    """The content of a lock file.

    Attributes:
        owners: the owners, by `toolkit:NAME`, `plugin:NAME` or `plugin:NAME/SERVER`.
        host_digest: the digest of the settings of `[host]` that change definitions.
    """

    owners: Mapping[str, LockedOwner]
    host_digest: str = ""
