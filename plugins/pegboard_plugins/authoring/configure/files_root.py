"""The folder of the tools for files in an entry of `pegboard configure`.

Without a root these tools use the working directory, but clients start servers in any folder, such as `/`.
"""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pegboard.terminal import UsageError, agreed, is_interactive, say

_TOOLKIT = "files"
FILES = ("toolkit", _TOOLKIT)
_LEFT_OUT = ("--without", _TOOLKIT)
ROOTS = f"toolkits.{_TOOLKIT}.roots"
_VARIABLE = f"PEGBOARD__{ROOTS.replace('.', '__').upper()}"


def root_arguments(options: Namespace, *, is_installed: bool, needs_root: bool) -> list[str]:
    """Return the arguments that set the folders of the tools for files, or that leave these tools out.

    The folders are those of `--root`, or the working directory if a person at a terminal agrees. There are no
    arguments if the tools are not served, or if the configuration of the entry sets their folders.

    Args:
        options: the options of the command.
        is_installed: True if the tools for files are installed.
        needs_root: True if these tools are served, and no file sets their folders.

    Raises:
        UsageError: a folder does not exist, or holds the home directory.
    """
    if options.root and not is_installed:
        say("--root has no effect: toolkit-files, which has the tools for files, is not installed")
        return []
    if options.root:
        return [word for root in options.root for word in ("--root", str(_checked(root)))]
    if not needs_root or _VARIABLE in dict(options.env or ()):  # the client sets the variable
        return []
    folder = Path.cwd()
    if not _holds_home(folder) and _agrees(folder, options):
        return ["--root", str(folder)]
    return [*_LEFT_OUT]


def say_left_out(command: Sequence[str], options: Namespace) -> None:
    """Print how to add the tools for files if the command of an entry leaves them out."""
    if tuple(command[-len(_LEFT_OUT) :]) == _LEFT_OUT:
        again = shlex.join(("pegboard", "configure", options.chosen, *map(str, options.paths)))
        say(f"the tools for files are left out; to add them, run: {again} --root FOLDER")


def _checked(root: str) -> Path:
    folder = Path(root).expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"the folder {folder} does not exist: correct --root")
    if _holds_home(folder):
        raise UsageError(f"{folder} is or holds your home directory: name a folder below it with --root")
    return folder


def _holds_home(folder: Path) -> bool:
    """Return True for the root of the disk, the home directory, and directories that hold it."""
    place, home = folder.resolve(), Path(os.path.expanduser("~"))
    return place == place.parent or (home.is_absolute() and home.resolve().is_relative_to(place))


def _agrees(folder: Path, options: Namespace) -> bool:
    can_ask = is_interactive() and not options.json
    return can_ask and agreed(f"Let the client's model read the files in {folder}?")
