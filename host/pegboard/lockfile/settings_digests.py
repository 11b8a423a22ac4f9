"""Digests of the settings on which definitions depend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.config import HostConfig
from pegboard.config.hostconfig import Kind
from pegboard.config.problems import dotted
from pegboard.lockfile.canonical import digest_of
from pegboard.wire.codec import encode

_SHAPING_KEYS = ("tool_names", "schema_references", "tools")
"""The keys of `[host]` that change definitions."""


def host_digest(config: HostConfig) -> str:
    """Return the digest of the settings of `[host]` that change definitions."""
    host = config.sources.tree.get("host", {})
    return _digest(("host",), {key: host[key] for key in _SHAPING_KEYS if key in host})


def settings_digest(config: HostConfig, kind: Kind, name: str) -> str:
    """Return the digest of the section of a plugin or toolkit, secrets masked."""
    return _digest((kind, name), config.sources.tree.get(kind, {}).get(name, {}))


def has_secrets(config: HostConfig, kind: Kind, name: str) -> bool:
    """Return True if the section of a plugin or toolkit has values that its digest does not have.

    These are masked secrets, and values of environment variables.
    """
    section = config.section(kind, name)
    if not section:
        return False
    from pegboard.config.references import references
    from pegboard.config.secret_values import MASK, masked

    return any(references(section)) or MASK.encode() in encode(masked(section, (kind, name)))


def _digest(path: tuple[str, ...], settings: Mapping[str, Any]) -> str:
    if not settings:
        return digest_of({dotted(path): {}})
    from pegboard.config.trust import settings_of  # most toolkits have no settings

    tree = settings
    for part in reversed(path):
        tree = {part: tree}
    return digest_of(settings_of(tree))
