"""Writes docs/images/terminal-*.svg: the output of commands, as a terminal shows it. `--check` compares them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
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


def image(command: str) -> str:
    """Return the picture of a command and its output. It loads no fonts from elsewhere."""
    shown = output(command)
    lines = [f"$ {command}", *shown.splitlines()]
    console = Console(
        record=True, file=StringIO(), width=max(map(len, lines)), color_system="truecolor", force_terminal=True
    )
    console.print(Text(lines[0], style="bold green"))
    console.print(Text(f"{shown}\n"), end="")  # the picture would cut off underscores of its last line
    return re.sub(r"@font-face \{.*?\}\n", "", console.export_svg(title="pegboard", theme=MONOKAI), flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Write or check the images."""
    stale = []
    for name, command in COMMANDS.items():
        path, picture = IMAGES / f"{name}.svg", image(command)
        if "--check" not in arguments:
            Path(path).write_text(picture, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != picture:
            stale.append(path.name)
    for name in stale:
        print(f"{name} differs from the output of its command; run python -m tools.screenshots", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
