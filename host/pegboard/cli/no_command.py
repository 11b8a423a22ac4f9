"""`pegboard` without a command: its version or its help."""

from __future__ import annotations

from argparse import Namespace

from pegboard.cli import OK
from pegboard.cli.output import print_text


def run_no_command(options: Namespace) -> int:
    """Print the version if requested, else the help."""
    if options.version:
        print_text(f"pegboard {_version()}")
    else:
        from pegboard.cli.parser import help_text

        print_text(help_text().rstrip())
    return OK


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pegboard")
    except PackageNotFoundError:
        return "0, not installed"
