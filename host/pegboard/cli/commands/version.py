"""`pegboard --version`."""

from __future__ import annotations

from argparse import Namespace

from importlib_metadata import PackageNotFoundError, version

from pegboard.cli import OK
from pegboard.terminal.printing import print_json, print_text


def run_version(options: Namespace) -> int:
    """Print the version."""
    print_json({"version": installed_version()}) if options.json else print_text(f"pegboard {installed_version()}")
    return OK


def installed_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return version("pegboard")
    except PackageNotFoundError:
        return "0, not installed"
