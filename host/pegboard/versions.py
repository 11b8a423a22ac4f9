"""Versions as authors write them, in the one form of Semantic Versioning 2.0.0."""

from __future__ import annotations

import re

_NUMBER = r"(0|[1-9][0-9]*)"
_PART = r"[0-9A-Za-z-]+"
_VERSION = rf"v?{_NUMBER}(?:\.{_NUMBER})?(?:\.{_NUMBER})?(-{_PART}(?:\.{_PART})*)?(\+{_PART}(?:\.{_PART})*)?"
"""Compiled by the first version there is, which most hosts do without."""


def normal_version(given: object) -> str:
    """A version with three numbers and no "v": `v1` is 1.0.0, and `1.2-rc.1` is 1.2.0-rc.1.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(_VERSION, given) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"{given!r} is no version; write it like 1.2.3 or 1.2.3-rc.1 (semver.org)")
    numbers = [number or "0" for number in found.groups()[:3]]
    return ".".join(numbers) + "".join(part or "" for part in found.groups()[3:])
