"""The configuration for the options of a command line, and its warnings."""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.config import ConfigProblem, HostConfig
from pegboard.config.ignored_variables import ignored_variables
from pegboard.loading.discovery import defaults, other_variables

if TYPE_CHECKING:
    from pegboard.config.trust import OnUntrusted, Untrusted


def load_config(
    options: Namespace,
    transports: Sequence[str] | None = None,
    *,
    collect: bool = False,
    lowest: Mapping[str, Any] | None = None,
    on_untrusted: OnUntrusted | None = None,
) -> HostConfig:
    """Load the configuration for the options of the command line.

    Args:
        options: the command line.
        transports: replace `[host] transports`.
        collect: True to store problems in `problems` and to ignore the invalid settings.
        lowest: the settings of lowest precedence; the defaults of the built-in plugins if None.
        on_untrusted: decides about a `./hostconfig.toml` that is not trusted; by default a terminal is asked.

    Raises:
        ConfigError: the configuration is invalid, unless `collect` is set, or `./hostconfig.toml` is not trusted.
    """
    options_by_key = {key: value for key, value in vars(options).items() if "." in key and value is not None}
    if transports is not None:
        options_by_key["host.transports"] = list(transports)
    lowest = defaults() if lowest is None else lowest
    return HostConfig.load(
        options.config,
        environ=os.environ,
        defaults=lowest,
        overrides=_tree(options_by_key),
        collect=collect,
        on_untrusted=on_untrusted or partial(ask_for_trust, options),
    )


def _tree(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return values by dotted key as nested tables."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        table = tree
        for part in tables:
            table = table.setdefault(part, {})
        table[name] = value
    return tree


def ask_for_trust(options: Namespace, untrusted: Untrusted) -> bool:
    """Ask at the terminal whether to trust a file. Without a terminal, refuse it."""
    from pegboard.cli.commands.trust_commands import ask

    return ask(untrusted, options)


def log_warnings(config: HostConfig, *, serving: bool) -> None:
    """Log the warnings of a configuration. Servers also warn of variables that have no effect."""
    for warning in (*config.warnings, *(ignored_settings(config, os.environ) if serving else ())):
        logging.getLogger("pegboard").warning("%s", warning)


def ignored_settings(config: HostConfig, environ: Mapping[str, str]) -> Iterable[ConfigProblem]:
    """Return warnings about variables that resemble settings but have no effect."""
    named = {*config.plugins, *config.host.plugins}
    return ignored_variables(environ, other_variables(config), named)
