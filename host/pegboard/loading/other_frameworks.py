"""Advice about files that were written for another framework."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from pegboard.loading.discovery import provided


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
    return provided("imports").get(_package(module))


def _package(module: str) -> str:
    return module.partition(".")[0]
