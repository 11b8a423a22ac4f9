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


def _icons(given: tuple[Any, ...]) -> tuple[Any, ...]:
    if not given:
        return ()
    from pegboard.types.content import Icon

    return tuple(Icon(one) if isinstance(one, str) else Icon(**one) for one in given)
