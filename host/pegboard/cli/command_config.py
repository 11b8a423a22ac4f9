"""The configuration for the options of a command line, and its warnings."""

from __future__ import annotations

import logging
import os
import re
from argparse import Namespace
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.config import ConfigProblem, HostConfig
from pegboard.config.environment import PREFIX, SETTING_KINDS, TOP_LEVEL_TABLES
from pegboard.config.files import CONFIG_VARIABLE
from pegboard.config.state import STATE_VARIABLE
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


# --- Environment variables that resemble settings but set nothing: those of other systems, and misspelled ones.


OWN_VARIABLES = (CONFIG_VARIABLE, STATE_VARIABLE)
"""The variables of the host that set no key."""
SIMILARITY = 0.9
"""The least similarity (`difflib`) of a misspelled name. Names of other programs, such as MCP_TIMEOUT, are below it."""
_STEM_SIMILARITY = 0.8

_TABLES = "|".join(TOP_LEVEL_TABLES).upper()
_OWN_FORM = re.compile(rf"(P\w*?)_+({_TABLES})_+(\w+)")
"""A name such as PEGBOARD_HOST_NAME: it resembles PEGBOARD__HOST__NAME."""


def ignored_variables(
    environ: Mapping[str, str], names: Mapping[str, Any], plugins: Container[str] = ()
) -> Iterator[ConfigProblem]:
    """Yield a warning for each variable that has no effect. Empty variables and those of other programs are skipped.

    Args:
        environ: all variables.
        names: the table `environment` of the defaults: the kinds of `SETTING_KINDS`, `renamed` with the setting
            that replaces a variable, `unused` with the reason why a variable has no effect, and `of_plugins` with the
            plugin that reads a variable if the configuration names the plugin.
        plugins: the plugins that the configuration names.
    """
    renamed, unused, owners = (names.get(kind, {}) for kind in ("renamed", "unused", "of_plugins"))
    used = {name for kind in SETTING_KINDS for name in names.get(kind, ())}
    variables = {*used, *renamed, *unused, *owners, *OWN_VARIABLES}
    for name in sorted(environ):
        if not environ[name].strip():
            continue
        if name in renamed:
            yield ConfigProblem(f"{name} is `{renamed[name]}` here")
        elif name in unused:
            yield ConfigProblem(f"{name} has no effect here: {unused[name]}")
        elif name in owners and owners[name] not in plugins:
            yield ConfigProblem(f"{name} has no effect here: only [plugins.{owners[name]}] uses it, which is disabled")
        elif meant := _meant(name, variables):
            yield ConfigProblem(f"the environment variable {name} has no effect", suggestion=meant)


def _meant(name: str, variables: AbstractSet[str]) -> str | None:
    """Return the correct name of a misspelled variable, or None."""
    upper = name.upper()
    if name in variables or upper.startswith(PREFIX):
        return None  # an unknown key after the prefix is a problem of the configuration
    similar = [variable for variable in variables if len({*variable[:3]} & {*upper[:3]}) > 1]
    if not similar:
        return None  # most variables; the comparison takes time at every start
    from difflib import get_close_matches

    match = _OWN_FORM.fullmatch(upper)
    if match and get_close_matches(match[1].replace("_", ""), ["PEGBOARD"], cutoff=_STEM_SIMILARITY):
        table, rest = match[2], match[3]
        return f"{PREFIX}{table}__{rest if table == 'HOST' or '__' in rest else 'NAME__KEY'}"
    return next(iter(get_close_matches(upper, similar, n=1, cutoff=SIMILARITY)), None)
