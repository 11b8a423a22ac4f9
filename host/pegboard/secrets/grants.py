"""The secrets that each toolkit may receive (`[host.toolkits.NAME] secrets`)."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from pegboard.config import HostConfig
from pegboard.plugin.origin import Origin


def is_granted(config: HostConfig, owner: Origin | str, name: str) -> bool:
    """Return True if a plugin, or the toolkit that a definition names, may receive a secret.

    Only toolkits with a configured list are limited.
    """
    toolkit = owner if isinstance(owner, str) else owner.name if owner.kind == "toolkit" else ""
    rights = config.host.toolkits.get(toolkit)
    if rights is None or rights.secrets is None:
        return True
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in rights.secrets)


def refusal_reason(config: HostConfig, owner: Origin | str, names: Iterable[str]) -> str:
    """Return the reason why a tool that requires these secrets is not served, or "" if all secrets are granted."""
    refused = [name for name in names if not is_granted(config, owner, name)]
    if not refused:
        return ""
    what = f"the secret {refused[0]}" if len(refused) == 1 else f"the secrets {', '.join(refused)}"
    key = ("host", "toolkits", owner if isinstance(owner, str) else owner.name, "secrets")
    return (
        f"it requires {what}, which [{'.'.join(key[:-1])}] secrets ({config.source(key)}) does not grant; add it there"
    )
