"""The folder of the tools for files in an entry of `pegboard configure`.

Without a root these tools use the working directory, but clients start servers in any folder, such as `/`.
"""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pegboard.plugin import HostPlan
from pegboard.terminal import UsageError, agreed, is_interactive, say

_TOOLKIT = "files"
_LEFT_OUT = ("--without", _TOOLKIT)
_ROOTS = f"toolkits.{_TOOLKIT}.roots"
_VARIABLE = f"PEGBOARD__{_ROOTS.replace('.', '__').upper()}"


def root_arguments(options: Namespace, plan: HostPlan) -> list[str]:
    """Return the arguments that set the folders of the tools for files, or that leave these tools out.

    The folders are those of `--root`, or the working directory if a person at a terminal agrees. There are no
    arguments if the tools are not served, or if the configuration of the entry sets their folders.

    Raises:
        UsageError: a folder does not exist, or holds the home directory.
    """
    if options.root and ("toolkit", _TOOLKIT) not in plan.installed:
        say("--root has no effect: toolkit-files, which has the tools for files, is not installed")
        return []
    if options.root:
        return [word for root in options.root for word in ("--root", str(_checked(root)))]
    if _has_root(options, plan) or ("toolkit", _TOOLKIT) not in plan.enabled:
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


def _has_root(options: Namespace, plan: HostPlan) -> bool:
    """Return True if the file of the entry, or a variable that the client sets, has the folders."""
    return plan.config.source(_ROOTS).kind == "file" or _VARIABLE in dict(options.env or ())


def _agrees(folder: Path, options: Namespace) -> bool:
    can_ask = is_interactive() and not options.json
    return can_ask and agreed(f"Let the client's model read the files in {folder}?")
