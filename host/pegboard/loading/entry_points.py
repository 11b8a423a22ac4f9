"""Entry points of installed distributions. A damaged distribution does not affect the others.

No plugin of pegboard is imported. If a distribution is damaged, pydantic's own plugins are loaded immediately.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from pegboard.loading.metadata_folders import UnusualMetadataError, metadata_folders
from pegboard.loading.plugins import GROUPS, LoadProblem
from pegboard.plugin.origin import EntryPoint
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    import importlib_metadata

_INVALID_NAME = "~"  # pip renames a distribution that it removes, and leaves it behind if it is interrupted
_METADATA_FOLDER = re.compile(r"(?P<name>[^-]+)(-(?P<version>[^-]+))?.*\.(dist|egg)-info")
_patching = Lock()


class Entry(NamedTuple):
    """An entry point of a plugin or toolkit, with the name and version of its distribution."""

    entry_point: EntryPoint
    distribution: str
    version: str


class Entries(NamedTuple):
    """The entry points of plugins and toolkits, and the problems with distributions."""

    entries: list[Entry]
    problems: list[LoadProblem]


def read_entries() -> Entries:
    """Read the entry points of every distribution. Report damaged and hidden distributions.

    If two distributions have the same name, the first on the module path is used, as for imports.
    """
    try:
        return Entries(_plain_entries(), [])
    except (UnusualMetadataError, OSError, ValueError):
        return _all_entries()


def _plain_entries() -> list[Entry]:
    entries = []
    for folder in metadata_folders().values():
        if ours := [one for one in folder.entry_points() if one.group in GROUPS]:
            owner, version = name_and_version(folder)
            entries += [Entry(one, owner, version) for one in ours]
    return entries


def _all_entries() -> Entries:
    """Read the entry points with `importlib_metadata`."""
    import importlib_metadata

    reader = _Reader()
    try:
        for distribution in importlib_metadata.distributions():
            reader.take(distribution)
    except Exception as error:  # noqa: BLE001 - finders may raise anything
        reader.problem(f"not every distribution could be read: {_in_words(error)}")
    if reader.damaged:
        _load_pydantic_plugins()
    return Entries(reader.entries, reader.problems)


class _Reader:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.problems: list[LoadProblem] = []
        self.damaged = False
        self.first: dict[str, importlib_metadata.Distribution] = {}

    def take(self, distribution: Any) -> None:
        name = _normal_name(distribution)
        if name.startswith(_INVALID_NAME):
            self.report_leftover(distribution)
        elif first := self.first.get(name):
            self.report_hidden(distribution, first)
        else:
            self.first[name] = distribution
            self.read(distribution)

    def read(self, distribution: Any) -> None:
        try:
            ours = _ours(distribution)
        except Exception as error:  # noqa: BLE001 - one damaged file would hide all distributions
            self.damaged = True
            owner = " ".join(name_and_version(distribution))
            self.problem(
                f"the entry points of {owner} cannot be read: {_in_words(error)}; "
                f"install it again, or remove {_folder(distribution)}"
            )
            return
        if ours:
            owner, version = name_and_version(distribution)
            self.entries += [Entry(entry, owner, version) for entry in ours]

    def report_leftover(self, distribution: Any) -> None:
        if _has_ours(distribution):
            self.warn(
                f"{_folder(distribution)} is left over from an interrupted uninstallation and is ignored; remove it"
            )

    def report_hidden(self, hidden: Any, first: Any) -> None:
        """Report a hidden distribution. Skip the same folder found twice and the source of an editable installation."""
        there, here = _folder(hidden), _folder(first)
        (name, version), (_, counting) = name_and_version(hidden), name_and_version(first)
        if there == here or (there.endswith(".egg-info") and version == counting):
            return
        if _has_ours(hidden) or _has_ours(first):
            self.warn(
                f"{name} {version} in {os.path.dirname(there)} is hidden by {name} {counting} in "
                f"{os.path.dirname(here)}, which comes first on the module path; uninstall one of them"
            )

    def problem(self, message: str) -> None:
        self.problems.append(LoadProblem("find", message))

    def warn(self, message: str) -> None:
        self.problems.append(LoadProblem("find", message, level="warning"))


def _ours(distribution: Any) -> list[EntryPoint]:
    found = [entry for entry in distribution.entry_points if entry.group in GROUPS]
    return [EntryPoint(entry.name, entry.value, entry.group) for entry in found]


def _has_ours(distribution: Any) -> bool:
    try:
        return bool(_ours(distribution))
    except Exception:  # noqa: BLE001 - it is not used
        return False


def _normal_name(distribution: Any) -> str:
    """Return a distribution's normalized name, taken from the name of its metadata folder without reading a file."""
    try:
        return str(distribution._normalized_name)
    except Exception:  # noqa: BLE001 - private, and it may read METADATA
        return name_and_version(distribution)[0].casefold()


def _folder(distribution: Any) -> str:
    """Return the metadata folder of a distribution, or the nearest known path if the folder is unknown."""
    return os.path.realpath(str(getattr(distribution, "_path", None) or distribution.locate_file("")))


def name_and_version(distribution: Any) -> tuple[str, str]:
    """Return the name and version of a distribution from its METADATA file, or else from its folder's name.

    The file is parsed here because the standard library's e-mail parser costs milliseconds at every start.
    """
    fields: dict[str, str] = {}
    try:
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    except (OSError, ValueError):
        text = ""
    for line in text.partition("\n\n")[0].splitlines():
        key, colon, value = line.partition(":")
        if not colon:
            break
        fields.setdefault(key.lower(), value.strip())
    name, version = fields.get("name"), fields.get("version")
    if not (name and version) and (match := _METADATA_FOLDER.fullmatch(os.path.basename(_folder(distribution)))):
        name, version = name or match["name"], version or match["version"]
    return name or "an unnamed distribution", version or "?"


def version_of(name: str) -> str | None:
    """Return the version of an installed distribution, or None. The name is normalized, with underscores."""
    try:
        folder = metadata_folders().get(name)
        return None if folder is None else name_and_version(folder)[1]
    except (UnusualMetadataError, OSError):
        import importlib_metadata

        try:
            return name_and_version(importlib_metadata.distribution(name))[1]
        except importlib_metadata.PackageNotFoundError:
            return None


def _in_words(error: Exception) -> str:
    if isinstance(error, TypeError):  # the message of the library names its classes
        return "a line of entry_points.txt is not of the form `name = module:attribute`"
    return f"{type(error).__name__}: {error}"


def _load_pydantic_plugins() -> None:
    """Let pydantic load its plugins without the damaged distributions.

    Pydantic loads its plugins when it builds its first model. It would fail at the first damaged distribution.
    """
    from pydantic import TypeAdapter

    with _patching, _readable_distributions():
        try:
            TypeAdapter(int).validate_python(0)
        except Exception:  # noqa: BLE001 - a plugin of pydantic failed; pydantic does not load it again
            return


@contextmanager
def _readable_distributions() -> Iterator[None]:
    """Hide damaged distributions from the standard library's `importlib.metadata` while the block runs."""
    from importlib.metadata import Distribution

    original = Distribution.__dict__["discover"]

    def readable(cls: Any, /, **options: Any) -> Iterator[Any]:
        return (one for one in original.__func__(cls, **options) if _is_readable(one))

    Distribution.discover = classmethod(readable)  # type: ignore[assignment]  # for this block only
    try:
        yield
    finally:
        Distribution.discover = original  # type: ignore[method-assign]  # as it was


def _is_readable(distribution: Any) -> bool:
    try:
        distribution.entry_points  # noqa: B018 - the property reads the file
    except Exception:  # noqa: BLE001 - a damaged file may raise anything
        return False
    return True
