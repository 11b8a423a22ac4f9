"""`dev`."""

from __future__ import annotations

from pathlib import Path

from pegboard.cli.parsing.cli_command import CliCommand

_FILE = ("path", {"type": Path, "metavar": "FILE", "help": "a Python file with a toolkit or with tools"})

COMMANDS = (
    CliCommand(
        "dev",
        "dev.dev_command:run_dev",
        "call the tools of a file at a prompt; each save reloads the file",
        ("pegboard dev server.py", "echo list | pegboard dev server.py"),
        (_FILE,),
    ),
)
