"""Trust in discovered configuration files, and in folders. The host uses such a file only with accepted content.

An MCP client starts servers in the folder that its user opens, so other people may have written `./hostconfig.toml`.
The state directory contains a pin for each trusted file: its path and a digest of its content.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pegboard.config import files
from pegboard.config.problems import ConfigProblem, dotted, leaves
from pegboard.config.references import masked
from pegboard.config.state import StateFiles
from pegboard.errors import ConfigError


class Pin(NamedTuple):
    """The content of a file that the user has accepted.

    Attributes:
        target: the file with all links resolved.
        digest: the SHA-256 digest of its content.
        settings: its settings by dotted key, with secrets masked.
    """

    target: str
    digest: str
    settings: Mapping[str, Any]


class Untrusted(NamedTuple):
    """A file in the working directory that is not trusted.

    Attributes:
        content: the content of the file, or None if the file cannot be read.
        problem: the reason why the file is not used, and how to fix it.
        pin: the content that the user accepted earlier, or None.
    """

    content: files.FileContent | None
    problem: ConfigProblem
    pin: Pin | None = None


OnUntrusted: TypeAlias = Callable[[Untrusted], bool]
"""Decides about an untrusted file: True uses it, False continues without it, ConfigError stops the start."""


def refuse_untrusted(untrusted: Untrusted) -> bool:
    """Raise ConfigError. Without the file, authenticators and other restrictions would be missing.

    Raises:
        ConfigError: always.
    """
    raise ConfigError([untrusted.problem])


def select_file(
    path: Path | None, environ: Mapping[str, str], directory: Path, on_untrusted: OnUntrusted
) -> tuple[files.Candidate, files.FileContent | ConfigProblem] | None:
    """Return the content of the configuration file, or a problem with the file, or None if there is no file."""
    for candidate in files.candidates(path, environ, directory):
        content = files.read_file(candidate, directory)
        if not candidate.needs_trust:
            return candidate, _unless_others_can_change(candidate, content, directory)
        untrusted = check_trust(candidate.path, content, environ, directory)
        if untrusted is None or on_untrusted(untrusted):
            return candidate, content
    return None


def check_trust(
    path: Path, content: files.FileContent | ConfigProblem, environ: Mapping[str, str], directory: Path
) -> Untrusted | None:
    """Return None if the file is trusted with its current content, otherwise the problem."""
    pin = pin_of(path, environ)
    if isinstance(content, ConfigProblem):
        return Untrusted(None, content, pin)
    shown = files.display_path(content.path, directory)
    if content.risk is not None:
        return Untrusted(None, _changeable(content, shown), pin)
    if pin is not None and (pin.target, pin.digest) == (os.path.realpath(content.path), _sha256(content.data)):
        return None
    state = (
        "the file has changed since it was trusted"
        if pin
        else "the file is not trusted: it was found in the working directory"
    )
    advice = f"check it and run `pegboard config trust`, or name it: --config {shown} (or PEGBOARD_CONFIG={shown})"
    return Untrusted(content, ConfigProblem(f"{state}; {advice}", file=shown), pin)


def trust(content: files.FileContent, settings: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Pin a file with its current content and return the content's digest.

    Raises:
        ConfigError: other users could change the file.
        OSError: the state directory cannot be written.
    """
    if content.risk is not None:
        raise ConfigError([_changeable(content, str(content.path))])
    import json  # most starts trust no file

    pin = Pin(os.path.realpath(content.path), _sha256(content.data), settings)
    StateFiles(environ).write(_name(content.path), json.dumps(pin._asdict()).encode())
    return pin.digest


def untrust(path: Path, environ: Mapping[str, str]) -> bool:
    """Remove the pin of a file. Return False if the file has no pin.

    Raises:
        OSError: the pin cannot be removed.
    """
    return StateFiles(environ).remove(_name(path))


def pin_of(path: Path, environ: Mapping[str, str]) -> Pin | None:
    """Return the pin of a file, or None if the file has no readable pin."""
    import json  # as above

    try:
        saved = StateFiles(environ).read(_name(path), secret=False)
        pin = None if saved is None else Pin(**json.loads(saved))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return pin if pin is not None and isinstance(pin.settings, dict) else None


def settings_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a file by dotted key, JSON-ready, with secrets masked."""
    return {dotted(path): masked(value, path) for path, value in leaves(tree)}


def _unless_others_can_change(
    candidate: files.Candidate, content: files.FileContent | ConfigProblem, directory: Path
) -> files.FileContent | ConfigProblem:
    """Refuse the file in the user's configuration directory if other users could change it. Accept named files."""
    if candidate.named_by is None and isinstance(content, files.FileContent) and content.risk is not None:
        return _changeable(content, files.display_path(content.path, directory))
    return content


def _changeable(content: files.FileContent, shown: str) -> ConfigProblem:
    advice = f"change its owner or permissions, or name it: --config {shown} (or PEGBOARD_CONFIG={shown})"
    return ConfigProblem(f"is refused because {content.risk}; {advice}", file=shown)


def _name(path: Path) -> str:
    """Return the file name of a pin. A link has its own pin, because relative paths start from the link's folder."""
    place = os.path.join(os.path.realpath(path.parent), path.name)
    return f"trusted-{_sha256(os.fsencode(place))[:32]}.json"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- Trust in folders: there plugins may read files with fixed names, such as `.env`. Each folder has a pin, too.

PROJECT_FILE = "pyproject.toml"
"""The file whose folder ends the search for a file, upwards from the working directory."""


def trust_folder(folder: Path, environ: Mapping[str, str]) -> None:
    """Trust a folder, with the folders below it.

    Raises:
        ConfigError: other users could change the folder, or it is or holds the home directory.
        OSError: the folder or the state directory cannot be read or written.
    """
    if files.holds_home(folder, environ):
        problem = "it is or holds your home directory: name a folder below it"
        raise ConfigError([ConfigProblem(problem, file=str(folder))])
    if risk := files.others_can_change(folder, folder.stat()):
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
    return f"trusted-folder-{_sha256(os.fsencode(folder.resolve()))[:32]}"
