"""Trust in folders. In a trusted folder, plugins may read files with fixed names, such as `.env`, without a
configuration file beside them. The state directory contains a pin for each trusted folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from pegboard.config.files import holds_home, others_can_change
from pegboard.config.problems import ConfigProblem
from pegboard.config.state import StateFiles
from pegboard.errors import ConfigError

PROJECT_FILE = "pyproject.toml"
"""The file whose folder ends the search for a file, upwards from the working directory."""


def trust_folder(folder: Path, environ: Mapping[str, str]) -> None:
    """Trust a folder, with the folders below it.

    Raises:
        ConfigError: other users could change the folder, or it is or holds the home directory.
        OSError: the folder or the state directory cannot be read or written.
    """
    if holds_home(folder, environ):
        problem = "it is or holds your home directory: name a folder below it"
        raise ConfigError([ConfigProblem(problem, file=str(folder))])
    if risk := others_can_change(folder, folder.stat()):
        raise ConfigError([ConfigProblem(f"{risk}; change its owner or permissions", file=str(folder))])
    StateFiles(environ).write(_pin(folder), os.fsencode(folder.resolve()))


def untrust_folder(folder: Path, environ: Mapping[str, str]) -> bool:
    """Withdraw the trust in a folder. Return False if the folder itself is not trusted.

    Raises:
        OSError: the pin cannot be removed.
    """
    return StateFiles(environ).remove(_pin(folder))


def find_upward(name: str, directory: Path, environ: Mapping[str, str]) -> tuple[Path, bool] | None:
    """Return the nearest file with a name, and True if it is in a trusted folder. Return None if there is no file.

    The search ends at the nearest `pyproject.toml`. Without one it leaves the directory only within a trusted folder.
    """
    folders = (directory, *directory.parents)
    end = next((place for place, folder in enumerate(folders, 1) if os.path.isfile(folder / PROJECT_FILE)), None)
    for folder in folders[:end]:
        if os.path.isfile(folder / name):
            is_trusted = _is_trusted(folder, environ)
            may_be_told = is_trusted or end is not None or folder == directory
            return (folder / name, is_trusted) if may_be_told else None
    return None


def _is_trusted(folder: Path, environ: Mapping[str, str]) -> bool:
    place = folder.resolve()
    return any(_has_pin(directory, environ) for directory in (place, *place.parents))


def _has_pin(folder: Path, environ: Mapping[str, str]) -> bool:
    try:
        return StateFiles(environ).read(_pin(folder), secret=False) == os.fsencode(folder)
    except OSError:
        return False


def _pin(folder: Path) -> str:
    return f"trusted-folder-{sha256(os.fsencode(folder.resolve())).hexdigest()[:32]}"
