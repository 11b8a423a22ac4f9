"""The identity of a host."""

from __future__ import annotations

from typing import Any

from pegboard.config import HostSection
from pegboard.loading.discovery import own_version
from pegboard.types.catalogue import Identity


def identity_of(section: HostSection) -> Identity:
    """Return the identity that the `[host]` section defines."""
    return Identity(
        name=section.name,
        version=section.version or own_version(),
        title=section.title,
        instructions=section.instructions,
        website_url=section.website_url,
        description=section.description,
        icons=_icons(section.icons),
    )


def _icons(icons: tuple[Any, ...]) -> tuple[Any, ...]:
    if not icons:
        return ()
    from pegboard.types.content import Icon

    return tuple(Icon(icon) if isinstance(icon, str) else Icon(**icon) for icon in icons)
