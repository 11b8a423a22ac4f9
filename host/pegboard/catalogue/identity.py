"""How a host introduces itself, by its configuration."""

from __future__ import annotations

from typing import Any

from pegboard.config import HostSection
from pegboard.loading.discovery import own_version
from pegboard.types.catalogue import Identity


def identity_of(section: HostSection) -> Identity:
    """What the `[host]` section says of the server."""
    return Identity(
        name=section.name,
        version=section.version or own_version(),
        title=section.title,
        instructions=section.instructions,
        website_url=section.website_url,
        description=section.description,
        icons=_icons(section.icons),
    )


def _icons(given: tuple[Any, ...]) -> tuple[Any, ...]:
    if not given:
        return ()
    from pegboard.types.content import Icon

    return tuple(Icon(one) if isinstance(one, str) else Icon(**one) for one in given)
