"""What the commands share: configuration, logging, and a host to look at."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from pegboard.cli.output import diverted, say
from pegboard.config import HostConfig
from pegboard.host import Host
from pegboard.loading.discovery import Selection, defaults


def load_config(options: Namespace, transports: Sequence[str] | None = None, *, collect: bool = False) -> HostConfig:
    """The configuration that the command line asks for, with other transports where the command decides about them.

    Args:
        options: the command line.
        transports: what holds instead of `[host] transports`.
        collect: keep what is wrong in `problems` and go on without it.

    Raises:
        ConfigError: it is wrong, unless `collect` is set.
    """
    overrides = {} if transports is None else {"host": {"transports": list(transports)}}
    return HostConfig.load(
        options.config, environ=os.environ, defaults=defaults(), overrides=overrides, collect=collect
    )


def make_host(options: Namespace, transports: Sequence[str] | None = None, *, collect: bool = False) -> Host:
    """A host that is not started, with logging set up as it says."""
    config = load_config(options, transports, collect=collect)
    set_up_logging(config.host.log_level, options.verbose)
    return Host(config, selection=Selection(tuple(options.only), options.safe, options.strict))


def loaded_host(options: Namespace) -> Host:
    """A host to look at: loaded, not started. What is wrong is said on stderr, and is no reason to stop."""
    host = make_host(options)
    with diverted():
        host.load()
    for problem in host.problems:
        say(f"{problem.level}: {problem}")
    if any(problem.fatal for problem in host.problems):
        say("the host does not start like this")
    return host


def set_up_logging(level: str, verbose: int) -> None:
    """Log to stderr, warnings and up unless more is asked for."""
    chosen = {0: level.upper(), 1: "INFO"}.get(verbose, "DEBUG")
    logging.basicConfig(stream=sys.stderr, level=chosen, format="%(levelname)s %(name)s: %(message)s")
