"""The names of a new project, made from the name that the user types."""

from __future__ import annotations

import re
from typing import NamedTuple

from pegboard_plugins.authoring.new.kinds import PREFIXES

MAX_PROJECT_NAME_CHARACTERS = 50

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


class ProjectNames(NamedTuple):
    """The names of a project.

    Attributes:
        dashed: the name that the user typed, without a prefix: `weather-map`.
        distribution: the name for installers, and of the folder: `toolkit-weather-map`.
        package: the name for imports: `toolkit_weather_map`.
        entry: the name of the plugin or toolkit: `weather_map`.
        pascal: the beginning of the names of classes: `WeatherMap`.
        title: the name for people: `Weather map`.
    """

    dashed: str
    distribution: str
    package: str
    entry: str
    pascal: str
    title: str


def project_names(sort: str, typed: str) -> ProjectNames:
    """Return the names of a toolkit, plugin or server. The name may begin with the prefix of the distribution.

    Raises:
        ValueError: the name is invalid.
    """
    prefix = PREFIXES[sort]
    name = typed.replace("_", "-").removeprefix(prefix)
    if not _NAME.fullmatch(name) or len(name) > MAX_PROJECT_NAME_CHARACTERS:
        raise ValueError(f"{typed!r} is not a valid name: {_hint(typed)}")
    entry = name.replace("-", "_")
    distribution = f"{prefix}{name}"
    return ProjectNames(
        dashed=name,
        distribution=distribution,
        package=distribution.replace("-", "_"),
        entry=entry,
        pascal="".join(word.capitalize() for word in name.split("-")),
        title=name.replace("-", " ").capitalize(),
    )


def _hint(typed: str) -> str:
    rule = f"use up to {MAX_PROJECT_NAME_CHARACTERS} lower-case letters (a-z) and digits, with - between words"
    close = re.sub(r"[^a-z0-9]+", "-", typed.lower()).lstrip("-0123456789")[:MAX_PROJECT_NAME_CHARACTERS].rstrip("-")
    return f"{rule}, such as {close or 'weather'}"
