"""The modules of one distribution or of one Python file in this process: changes of their files, and their removal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import importlib_metadata

from pegboard.config import HostConfig
from pegboard.config.problems import KeyPath, dotted
from pegboard.loading.plugins import LoadedPlugin
from pegboard.loading.source_files import forget_compiled
from pegboard.plugin.definition_checks import DefinitionCheck
from pegboard.plugin.secrets import SecretStore
from pegboard.plugin.toolkit_loading import ToolkitLoader
from pegboard.wire.codec import decode

HOST_PACKAGES = (
    "pegboard",
    "pegboard_client",
    "pegboard_evals",
    "pegboard_messages",
    "pegboard_plugins",
    "pegboard_testing",
)
_INSTALLED = ("site-packages", "dist-packages")

Modules = Mapping[str, ModuleType]


def modules_in(folders: Collection[str]) -> Modules:
    """Return the modules in folders: Python files that were run, and modules that were imported from the folders."""

    def is_own(name: str, path: str) -> bool:
        if name.startswith("__") and os.path.dirname(path) in folders:
            return True
        stem = os.path.splitext(path)[0].removesuffix(f"{os.sep}__init__")
        relative = os.path.join(*name.split("."))
        return any(stem == os.path.join(folder, relative) for folder in folders)

    return _selected(is_own)


def modules_of_distribution(name: str, module: str) -> Modules:
    """Return the imported modules of a distribution.

    Args:
        name: the distribution. Its RECORD lists its files; an editable installation has a folder of sources. It may be
            removed already.
        module: the module of an entry point, or "". The modules of its package belong to the distribution as well.
    """
    try:
        distribution = importlib_metadata.distribution(name)
        files = _recorded(distribution)
        folder = _editable_folder(distribution)
    except importlib_metadata.PackageNotFoundError:
        files = frozenset()
        folder = None
    package = module.partition(".")[0]
    if module and getattr(sys.modules.get(package), "__file__", None) is None:
        package = module  # a namespace package has modules of several distributions

    def is_own(name: str, path: str) -> bool:
        if path in files or (package and (name == package or name.startswith(f"{package}."))):
            return True
        return folder is not None and path.startswith(folder) and not set(_INSTALLED) & set(path.split(os.sep))

    return _selected(is_own)


def folders_of(modules: Modules) -> set[str]:
    """Return the folders of packages, without the folders into which installers write."""
    folders = {os.path.dirname(_path_of(module)) for module in modules.values()} - {""}
    return {folder for folder in folders if os.path.basename(folder) not in _INSTALLED}


def host_modules() -> Modules:
    """Return the modules of pegboard."""
    return {name: module for name, module in _modules() if name.partition(".")[0] in HOST_PACKAGES}


def changed_since(modules: Modules, time_ns: int) -> bool:
    """Return True if the file of a module was changed, replaced or removed after a time."""
    return any(is_newer(path, time_ns) for path in {_path_of(module) for module in modules.values()} if path)


def extension_of(modules: Modules) -> str | None:
    """Return the name of a module in C among modules, or None. Python cannot import such a module again."""
    return next(
        (name for name, module in modules.items() if _path_of(module).endswith(tuple(EXTENSION_SUFFIXES))), None
    )


def importer_of(modules: Modules) -> tuple[str, str] | None:
    """Return the name of another module that has imported one of these modules, and the imported module, or None."""
    parents = {name.rpartition(".")[0] for name in modules}
    for other, module in _modules():
        if other in modules or other in parents or other == "__main__":
            continue
        for value in [*vars(module).values()]:
            try:
                name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            except Exception:  # noqa: BLE001, S112 - a lazy object may raise anything
                continue
            if isinstance(name, str) and name in modules:
                return other, name
    return None


def take_out(modules: Modules) -> Callable[[], None]:
    """Remove modules from `sys.modules`, and their compiled files. Return a function that undoes the removal.

    Compiled files are removed because their time stamps have a resolution of one second.
    """
    attributes: list[tuple[ModuleType, str, Any]] = []
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        if parent in sys.modules and parent not in modules and hasattr(sys.modules[parent], child):
            attributes.append((sys.modules[parent], child, getattr(sys.modules[parent], child)))
            delattr(sys.modules[parent], child)
        sys.modules.pop(name, None)
        forget_compiled(_path_of(module))

    def undo() -> None:
        for name in _selected_below(modules):
            del sys.modules[name]
        sys.modules.update(modules)
        for parent, child, value in attributes:
            setattr(parent, child, value)

    return undo


def _selected_below(modules: Modules) -> Iterable[str]:
    """Return the names in `sys.modules` of the packages of these modules, which a failed import may have added."""
    tops = {name for name in modules if name.rpartition(".")[0] not in modules}
    return [name for name in sys.modules if any(name == top or name.startswith(f"{top}.") for top in tops)]


def _selected(is_own: Callable[[str, str], bool]) -> Modules:
    return {
        name: module
        for name, module in _modules()
        if name.partition(".")[0] not in HOST_PACKAGES and _path_of(module) and is_own(name, _path_of(module))
    }


def _modules() -> Iterator[tuple[str, ModuleType]]:
    loaded: Mapping[str, Any] = sys.modules
    return ((name, module) for name, module in [*loaded.items()] if isinstance(module, ModuleType))


def _path_of(module: ModuleType) -> str:
    path = getattr(module, "__file__", None)
    return os.path.realpath(path) if isinstance(path, str) else ""


def is_newer(path: str, time_ns: int) -> bool:
    """Return True if a file was changed, replaced or removed after a time."""
    try:
        status = os.stat(path)
    except OSError:
        return True
    # an installer may set an old time of modification, but not the time of the change of the inode
    changed = status.st_mtime_ns if os.name == "nt" else max(status.st_mtime_ns, status.st_ctime_ns)
    return changed > time_ns


def _recorded(distribution: Any) -> frozenset[str]:
    try:
        return frozenset(os.path.realpath(file.locate()) for file in distribution.files or () if file.suffix != ".pyc")
    except Exception:  # noqa: BLE001 - a damaged RECORD may raise anything
        return frozenset()


def _editable_folder(distribution: Any) -> str | None:
    """Return the folder of the sources of an editable installation, with a separator at its end, or None."""
    try:
        direct: Any = decode((distribution.read_text("direct_url.json") or "{}").encode())
        if direct["dir_info"]["editable"]:
            return os.path.join(os.path.realpath(url2pathname(urlsplit(direct["url"]).path)), "")
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


# --- Changes of the configuration, and of other files that plugins have read, since a host was started.

_READERS = (DefinitionCheck, SecretStore, ToolkitLoader)
"""The contributions that read files, and name them."""


def changed_keys(before: HostConfig, now: HostConfig, path: KeyPath) -> list[str]:
    """Return the keys of a table that differ, or a key itself, each with the file and line of its new value."""
    old, new = (_leaves(config.sources.tree, path) for config in (before, now))
    return [_placed(now, key) for key in {**new, **old} if old.get(key) != new.get(key)]


def files_behind(plugin: LoadedPlugin) -> list[str]:
    """Return the files that the contributions of a plugin have read: secrets, and accepted definitions."""
    items = (item for contributions in plugin.contributions.values() for item in contributions)
    return [*dict.fromkeys(file for reader in items if isinstance(reader, _READERS) for file in reader.files_read)]


def changed_files(plugin: LoadedPlugin) -> list[str]:
    """Return those of these files that have changed since the plugin was loaded."""
    return [file for file in files_behind(plugin) if is_newer(file, plugin.loaded_at)]


def _leaves(tree: Any, path: KeyPath) -> dict[KeyPath, Any]:
    """Return the values below a path of a tree that are not tables, each with its path."""
    for part in path:
        tree = tree.get(part, {})
    if not isinstance(tree, Mapping):
        return {path: tree}
    return {(*path, *below): value for key in tree for below, value in _leaves(tree, (key,)).items()}


def _placed(config: HostConfig, path: KeyPath) -> str:
    source = config.source(path)
    return f"{dotted(path)} ({source})" if source.file else dotted(path)
