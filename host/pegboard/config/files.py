"""Discovery and reading of `hostconfig.toml`, with checks of its location, permissions and syntax."""

import errno
import os
import re
import select
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.config.problems import ConfigProblem
from pegboard.config.sources import Layer

FILE_NAME = "hostconfig.toml"
CONFIG_VARIABLE = "PEGBOARD_CONFIG"
MAX_PIPE_SECONDS = 5.0
"""How long a pipe that is named as the configuration may stay silent."""


class Candidate(NamedTuple):
    """A configuration file that the host may read.

    Attributes:
        path: the file.
        named_by: the option or variable that names the file, or None if the file was discovered.
        needs_trust: True if the file is in the working directory, where other people may have written it.
    """

    path: Path
    named_by: str | None = None
    needs_trust: bool = False


class FileContent(NamedTuple):
    """The content of a file at the time of reading.

    Attributes:
        path: the file.
        data: its bytes.
        risk: the reason why other users could change the file, or None if they cannot.
    """

    path: Path
    data: bytes
    risk: str | None = None


def candidates(path: Path | None, environ: Mapping[str, str], directory: Path) -> list[Candidate]:
    """Return the candidates for the configuration file. The host uses the first candidate that it may read.

    The order is: `path`, PEGBOARD_CONFIG, the file in the working directory, the user's file. A named file is the only
    candidate, even if it does not exist. Reading then reports the problem.
    """
    if path is not None:
        return [Candidate(directory / _expanded(path, environ), "--config")]
    if named := environ.get(CONFIG_VARIABLE):
        return [Candidate(directory / _expanded(Path(named), environ), f"environment variable {CONFIG_VARIABLE}")]
    ordered = [Candidate(directory / FILE_NAME, needs_trust=True)]
    if user := user_directory(environ):
        own = Candidate(user / FILE_NAME)
        ordered = [own] if os.path.realpath(user) == os.path.realpath(directory) else [*ordered, own]
    # a broken link is a candidate, because the host must not start without its file
    return [candidate for candidate in ordered if os.path.lexists(candidate.path) and not os.path.isdir(candidate.path)]


def user_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the user's configuration directory (XDG Base Directory 0.8; `~/Library` on macOS)."""
    on_mac = "Library/Application Support/pegboard"
    return xdg_directory(environ, "XDG_CONFIG_HOME", on_mac if sys.platform == "darwin" else ".config/pegboard")


def xdg_directory(environ: Mapping[str, str], variable: str, default: str) -> Path | None:
    """Return pegboard's directory in the directory that a variable names, or else in a default directory."""
    base = Path(environ.get(variable) or "")
    if base.is_absolute():  # a relative path counts as unset
        return base / "pegboard"
    home = _home(environ)
    return None if home is None else home / default


def read_file(candidate: Candidate, directory: Path) -> FileContent | ConfigProblem:
    """Read a file, or return the reason why it cannot be read. A discovered file must be a regular file.

    A named file may be a pipe, such as that of `--config <(command)` in a shell.

    Args:
        candidate: the file.
        directory: the working directory, for messages.
    """
    try:
        # without O_NONBLOCK every command would wait for a pipe
        with open(candidate.path, "rb", opener=without_waiting) as file:
            status = os.fstat(file.fileno())
            if candidate.named_by is None and not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            data = _piped(file.fileno()) if stat.S_ISFIFO(status.st_mode) else file.read() or b""  # a terminal
            return FileContent(candidate.path, data, others_can_change(candidate.path, status))
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        named_by = f" (named by {candidate.named_by})" if candidate.named_by else ""
        return ConfigProblem(f"cannot be read: {reason}{named_by}", file=display_path(candidate.path, directory))


def parse_file(content: FileContent | ConfigProblem, directory: Path) -> Layer | ConfigProblem:
    """Return the layer of one file, or a problem if it cannot be read or is not TOML in UTF-8."""
    if isinstance(content, ConfigProblem):
        return content
    import tomli

    shown, data = display_path(content.path, directory), content.data
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return Layer("file", tomli.loads(text), file=shown, text=text)
    except UnicodeDecodeError as error:
        return ConfigProblem("is not UTF-8", file=shown, line=data.count(b"\n", 0, error.start) + 1)
    except tomli.TOMLDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        message = re.sub(r"\('(.*?)',?\)", lambda name: f"[{name[1]}]".replace("', '", "."), message)
        return ConfigProblem(f"not valid TOML: {message}", file=shown, line=error.lineno, column=error.colno)
    except RecursionError:
        return ConfigProblem("is nested too deeply", file=shown)


def others_can_change(path: Path, status: os.stat_result) -> str | None:
    """Return the reason why other users of this machine can change a file. Return None if no other user can.

    The file's group may have write access. In a sticky folder such as /tmp, users cannot replace other users' files.

    Args:
        path: the file. For a link, the folder of the link and the folder of its target are checked.
        status: the status of the open file.
    """
    if os.name != "posix":
        return None
    if status.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    if status.st_mode & stat.S_IWOTH:
        return "other users can write it"
    for folder in dict.fromkeys((Path(os.path.abspath(path)).parent, Path(os.path.realpath(path)).parent)):
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"other users can write its folder {folder}"
    return None


def without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe. This is an opener of `open`."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


def holds_home(folder: Path, environ: Mapping[str, str]) -> bool:
    """Return True for the root of the disk, the user's home directory, and directories that hold it."""
    place = folder.resolve()
    home = _home(environ)
    return place == place.parent or (home is not None and home.resolve().is_relative_to(place))


def _piped(handle: int) -> bytes:
    """Read a pipe to its end.

    Raises:
        OSError: nothing arrives for `MAX_PIPE_SECONDS`.
    """
    data = b""
    while select.select([handle], [], [], MAX_PIPE_SECONDS)[0]:
        if not (chunk := os.read(handle, 65536)):
            return data
        data += chunk
    raise OSError(errno.ETIMEDOUT, f"it is a pipe into which nothing was written for {MAX_PIPE_SECONDS:g} s")


def display_path(path: Path, directory: Path) -> str:
    """Return a path for messages, relative to `directory` if it is inside."""
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)


def _expanded(path: Path, environ: Mapping[str, str]) -> Path:
    """Expand ~ to the home directory, because MCP clients pass it to servers unexpanded."""
    home = _home(environ)
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) and home else path


def _home(environ: Mapping[str, str]) -> Path | None:
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    return home if home.is_absolute() else None
