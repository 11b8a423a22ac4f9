"""What the commands share: configuration, logging, and printing."""

from __future__ import annotations

import json
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from pegboard.config import HostConfig
from pegboard.discovery import Selection, defaults
from pegboard.host import Host


def load_config(options: Namespace, transports: Sequence[str] | None = None) -> HostConfig:
    """The configuration that the command line asks for, with other transports where the command decides about them.

    Raises:
        ConfigError: it is wrong.
    """
    overrides = {} if transports is None else {"host": {"transports": list(transports)}}
    return HostConfig.load(options.config, environ=os.environ, defaults=defaults(), overrides=overrides)


def make_host(options: Namespace, transports: Sequence[str] | None = None) -> Host:
    """A host that is not started, with logging set up as it says."""
    config = load_config(options, transports)
    set_up_logging(config.host.log_level, options.verbose)
    return Host(config, selection=Selection(tuple(options.only), options.safe, options.strict))


def loaded_host(options: Namespace) -> Host:
    """A host to look at: loaded, not started. What is wrong is said on stderr, and is no reason to stop."""
    host = make_host(options)
    host.load()
    for problem in host.problems:
        say(f"{problem.level}: {problem}")
    return host


def set_up_logging(level: str, verbose: int) -> None:
    """Log to stderr, warnings and up unless more is asked for."""
    chosen = {0: level.upper(), 1: "INFO"}.get(verbose, "DEBUG")
    logging.basicConfig(stream=sys.stderr, level=chosen, format="%(levelname)s %(name)s: %(message)s")


def say(text: str) -> None:
    """Talk to the person."""
    print(f"pegboard: {text}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Data for programs."""
    print(json.dumps(value, indent=2, ensure_ascii=not _speaks_unicode(), default=str))


def print_text(text: str) -> None:
    """Data for people; what would steer a terminal is shown escaped, what its encoding lacks is replaced."""
    shown = "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)
    encoding = sys.stdout.encoding or "ascii"
    print(shown.encode(encoding, "backslashreplace").decode(encoding))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in columns as wide as they need to be; the last column runs free."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print_text("  ".join([*cells, row[-1]]).rstrip())


def first_line(text: str) -> str:
    """The first line of a description."""
    return text.strip().split("\n", 1)[0]


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
