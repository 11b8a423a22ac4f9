"""Entry points of installed distributions. A damaged distribution affects no other. No plugin is imported."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import importlib_metadata

from pegboard.loading.plugins import GROUPS, LoadProblem
from pegboard.plugin.origin import Origin


def read_entry_points() -> tuple[list[Origin], list[LoadProblem]]:
    """Return the installed plugins and toolkits, and the problems with damaged and hidden distributions.

    If two distributions have the same name, the first on the module path is used, as for imports.
    """
    origins: list[Origin] = []
    errors: list[LoadProblem] = []
    warnings: list[LoadProblem] = []
    for distribution in importlib_metadata.distributions():
        try:
            readable, warning = _read(distribution)
        except Exception as error:  # noqa: BLE001 - a damaged file may raise anything
            errors.append(LoadProblem("find", _damage(distribution, error)))
            continue
        origins += readable
        if warning:
            warnings.append(LoadProblem("find", warning, level="warning"))
    return [*dict.fromkeys(origins)], [*dict.fromkeys(errors + warnings)]  # a folder may be on the module path twice


def _read(distribution: Any) -> tuple[list[Origin], str]:
    """Return the plugins and toolkits of a distribution, or a warning that they are ignored."""
    entries = [entry for entry in distribution.entry_points if entry.group in GROUPS]
    if not entries:
        return [], ""
    folder, metadata = _folder(distribution), distribution.metadata
    name, version = metadata["Name"], metadata["Version"]
    if os.path.basename(folder).startswith("~"):  # pip renames what it removes
        return [], f"{folder} is left over from an interrupted uninstallation and is ignored; remove it"
    first = next(iter(importlib_metadata.distributions(name=name)), distribution)
    if (there := _folder(first)) == folder:
        return [Origin(GROUPS[entry.group], entry.name, entry.value, name, version, entry) for entry in entries], ""
    if folder.endswith(".egg-info") and version == first.version:
        return [], ""  # the source of an editable installation
    return [], (
        f"{name} {version} in {os.path.dirname(folder)} is hidden by {name} {first.version} in "
        f"{os.path.dirname(there)}, which comes first on the module path; uninstall one of them"
    )


def _folder(distribution: Any) -> str:
    """Return the metadata folder of a distribution, or the nearest known path if the folder is unknown."""
    return os.path.realpath(str(getattr(distribution, "_path", None) or distribution.locate_file("")))


def _damage(distribution: Any, error: Exception) -> str:
    folder = _folder(distribution)
    owner, reason = os.path.basename(folder), f"{type(error).__name__}: {error}"
    with suppress(Exception):
        owner = f"{distribution.name} {distribution.version}"
    if isinstance(error, TypeError):  # the message of the library names its classes
        reason = "a line of entry_points.txt is not of the form `name = module:attribute`"
    return f"the entry points of {owner} cannot be read: {reason}; install it again, or remove {folder}"
