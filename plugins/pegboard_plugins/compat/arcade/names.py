"""Names of apps and tools, and versions of apps."""

from __future__ import annotations

import re

_APP = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")
_VERSION = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+][0-9A-Za-z.+-]+)?")


def pascal_case(name: str) -> str:
    """Return a name in Pascal case: `ListIssues` for `list_issues`. Other names that start with a capital stay."""
    if "_" not in name and name[:1].isupper():
        return name
    return "".join(word.capitalize() for word in name.split("_"))


def checked_name(name: object) -> str:
    """Return the name of an app or toolkit.

    Raises:
        ValueError: the name is not made of letters, digits and single underscores inside.
    """
    if not isinstance(name, str) or not _APP.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of an app or toolkit: use letters and digits, such as my_server")
    return name


def full_version(version: object) -> str:
    """Return a version with three numbers: 1.2.0 for `v1.2`.

    Raises:
        ValueError: the version is invalid.
    """
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise ValueError(f"{version!r} is not a version: write it like 1.2.3 (semver.org)")
    *numbers, rest = match.groups()
    return ".".join(number or "0" for number in numbers) + (rest or "")
