"""The secrets and tokens that each toolkit may receive (`[host.toolkits.NAME] secrets`, `providers`)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from pegboard.config import HostConfig
from pegboard.errors import AuthorizationRequiredError
from pegboard.plugin.origin import Origin

if TYPE_CHECKING:
    from pegboard.types.authorization import ToolAuthorization

GrantKind = Literal["secrets", "providers"]
"""The key that limits a toolkit: names of secrets, or names of providers whose tokens it may receive."""


def granted(config: HostConfig, owner: Origin | str, kind: GrantKind) -> tuple[str, ...] | None:
    """Return the names and globs that a plugin, or the toolkit that a definition names, may receive.

    None is no limit. Only toolkits have limits.
    """
    toolkit = owner if isinstance(owner, str) else owner.name if owner.kind == "toolkit" else ""
    rights = config.host.toolkits.get(toolkit)
    return None if rights is None else rights.secrets if kind == "secrets" else rights.providers


def is_granted(config: HostConfig, owner: Origin | str, name: str, kind: GrantKind = "secrets") -> bool:
    """Return True if a plugin or toolkit may receive a secret, or the token of a provider."""
    patterns = granted(config, owner, kind)
    return patterns is None or any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def check_token_grant(config: HostConfig, owner: Origin, required: ToolAuthorization) -> None:
    """Check that a plugin or toolkit may receive a token.

    Raises:
        AuthorizationRequiredError: it may not.
    """
    if not is_granted(config, owner, required.name, "providers"):
        hint = f"[host.toolkits.{owner.name}] providers does not grant it"
        raise AuthorizationRequiredError(required.name, scopes=required.scopes, hint=hint, developer_message=hint)


def refusal(config: HostConfig, owner: Origin | str, what: str, kind: GrantKind) -> str:
    """Return the reason why a plugin or toolkit may not receive something, with the setting to change."""
    key = ("host", "toolkits", owner if isinstance(owner, str) else owner.name, kind)
    return (
        f"it requires {what}, which [{'.'.join(key[:-1])}] {kind} ({config.source(key)}) does not grant; add it there"
    )
