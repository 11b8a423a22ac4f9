"""Advice about files that were written for another framework."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import importlib_metadata

from pegboard.loading.plugin_facts import OWN_DISTRIBUTIONS

_GROUP = "pegboard.replacements"
"""The entry points of pegboard that name packages of other frameworks, each with the module that takes its place."""


def import_advice(error: BaseException) -> str:
    """Return which module takes the place of a missing package of another framework. Return "" for other errors."""
    missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    place = _place(missing)
    return f"; if the file is a server of {_package(missing)}, import from {place} instead" if place else ""


def server_advice(values: Iterable[Any]) -> str:
    """Return which class to import if one of the values is a server of another framework. Return "" otherwise."""
    for kind in map(type, values):
        place = _place(kind.__module__)
        if place and hasattr(kind, "run") and hasattr(import_module(place), kind.__name__):
            return f"; it has a server of {_package(kind.__module__)}: import {kind.__name__} from {place} instead"
    return ""


def _place(module: str) -> str | None:
    """Return the module that takes the place of a package of another framework."""
    try:
        entries = importlib_metadata.distribution(OWN_DISTRIBUTIONS[0]).entry_points
    except importlib_metadata.PackageNotFoundError:
        return None
    return next((entry.value for entry in entries.select(group=_GROUP, name=_package(module))), None)


def _package(module: str) -> str:
    return module.partition(".")[0]
