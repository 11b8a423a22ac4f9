"""Finding and reading `hostconfig.toml`. Nothing is checked here but that it is TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegboard.config.problems import ConfigProblem
from pegboard.config.sources import Layer

FILE_NAME = "hostconfig.toml"
VARIABLE = "PEGBOARD_CONFIG"


def find(path: Path | None, environ: Mapping[str, str], directory: Path) -> tuple[Path | None, str | None]:
    """The configuration file to read, if there is one, and who named it (None: nobody, it was found).

    In order: the path given, PEGBOARD_CONFIG, the directory's own, the user's. A file that somebody named is not
    looked for, so that a missing one is noticed when it is read.
    """
    if path is not None:
        return directory / _expanded(path, environ), "--config"
    if named := environ.get(VARIABLE):
        return directory / _expanded(Path(named), environ), f"environment variable {VARIABLE}"
    candidates = [directory / FILE_NAME]
    if user := user_directory(environ):
        candidates.append(user / FILE_NAME)
    return next((found for found in candidates if _is_there(found)), None), None


def user_directory(environ: Mapping[str, str]) -> Path | None:
    """The user's own directory for configuration of this program (XDG Base Directory 0.8; Library on macOS)."""
    import sys

    base = Path(environ.get("XDG_CONFIG_HOME") or "")
    if base.is_absolute():  # a relative one counts as none
        return base / "pegboard"
    if (home := _home(environ)) is None:
        return None
    return home / ("Library/Application Support" if sys.platform == "darwin" else ".config") / "pegboard"


def read(path: Path, directory: Path, named_by: str | None = None) -> Layer | ConfigProblem:
    """The layer of one file, or what is wrong with it: missing, unreadable, no UTF-8, no TOML."""
    shown = show(path, directory)
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        return ConfigProblem(f"cannot be read: {reason}" + (f" (named by {named_by})" if named_by else ""), file=shown)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return ConfigProblem("is not UTF-8", file=shown, line=data.count(b"\n", 0, error.start) + 1)
    return _parse(text, shown)


def show(path: Path, directory: Path) -> str:
    """A path as a person reads it: relative where it is below the directory."""
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)


def _parse(text: str, shown: str) -> Layer | ConfigProblem:
    import tomli

    try:
        tree: dict[str, Any] = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        message = re.sub(r"\('(.*?)',?\)", lambda name: f"[{name[1]}]".replace("', '", "."), message)
        return ConfigProblem(f"not valid TOML: {message}", file=shown, line=error.lineno, column=error.colno)
    except RecursionError:
        return ConfigProblem("is nested too deeply", file=shown)
    return Layer("file", tree, file=shown, text=text)


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a directory that may not be entered
        return False


def _expanded(path: Path, environ: Mapping[str, str]) -> Path:
    """With ~ as the home directory: clients that start servers do not expand it."""
    home = _home(environ)
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) and home else path


def _home(environ: Mapping[str, str]) -> Path | None:
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        return None
