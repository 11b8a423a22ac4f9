"""Writes docs/images/terminal-*.svg: the output of commands, as a terminal shows it. `--check` compares them.

The session of `pegboard dev` is that of its page, which a test compares with a real one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import StringIO
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tools.install import ROOT

IMAGES = ROOT / "docs" / "images"
COMMANDS = {
    "terminal-list": "pegboard list --only math",
    "terminal-show": "pegboard show math_statistics --only math",
    "terminal-call": "pegboard call math_statistics numbers:=[2,3.5,8] --only math",
    "terminal-plugins": "pegboard plugins --only math",
    "terminal-status": "pegboard --only math",
    "terminal-cost": "pegboard cost --only math",
}
"""The command of each image. All of them show toolkit-math, which needs no secrets and no files."""


def output(command: str) -> str:
    """Run a command in an empty folder and return what it prints."""
    with TemporaryDirectory() as folder:
        variables = {"PATH": os.environ["PATH"], "HOME": folder, "PEGBOARD_STATE_DIR": folder}
        arguments = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(
            arguments,
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
    return done.stdout


def run(command: str) -> list[str]:
    """Return the lines that a terminal shows for a command."""
    return [f"$ {command}", *output(command).splitlines()]


def session() -> list[str]:
    """Return the lines of the session of `pegboard dev` in docs/dev.md."""
    page = (ROOT / "docs" / "dev.md").read_text("utf-8")
    return page.partition("```text session\n")[2].partition("\n```")[0].splitlines()


def image(lines: Sequence[str]) -> str:
    """Return the picture of a command line and its output. It loads no fonts from elsewhere."""
    console = Console(
        record=True, file=StringIO(), width=max(map(len, lines)), color_system="truecolor", force_terminal=True
    )
    console.print(Text(lines[0], style="bold green"))
    console.print(Text("\n".join([*lines[1:], "\n"])), end="")  # the picture would cut off underscores of its last line
    return re.sub(r"@font-face \{.*?\}\n", "", console.export_svg(title="pegboard", theme=MONOKAI), flags=re.DOTALL)


SOURCES: Mapping[str, Callable[[], list[str]]] = {
    **{name: partial(run, command) for name, command in COMMANDS.items()},
    "terminal-dev": session,
}
"""The functions that return the lines of each image."""


def main(arguments: list[str]) -> int:
    """Write or check the images."""
    stale = []
    for name, lines in SOURCES.items():
        path, picture = IMAGES / f"{name}.svg", image(lines())
        if "--check" not in arguments:
            path.write_text(picture, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != picture:
            stale.append(path.name)
    for name in stale:
        print(f"{name} differs from the output of its command; run python -m tools.screenshots", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
