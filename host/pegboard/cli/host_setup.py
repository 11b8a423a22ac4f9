"""What the commands share: configuration, logging, and a host to look at."""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.cli.log_setup import set_up_logging
from pegboard.cli.output import diverted, say
from pegboard.config import HostConfig
from pegboard.host import Host
from pegboard.loading.discovery import Selection, defaults

if TYPE_CHECKING:
    from pegboard.authoring.toolkit_base import ToolkitBase
    from pegboard.config.trust import OnUntrusted, Untrusted


def load_config(
    options: Namespace,
    transports: Sequence[str] | None = None,
    *,
    collect: bool = False,
    lowest: Mapping[str, Any] | None = None,
    on_untrusted: OnUntrusted | None = None,
) -> HostConfig:
    """The configuration that the command line asks for, with other transports where the command decides about them.

    Args:
        options: the command line.
        transports: what holds instead of `[host] transports`.
        collect: keep what is wrong in `problems` and go on without it.
        lowest: what holds when nobody says otherwise; the defaults of the built-in plugins when None.
        on_untrusted: decides about a `./hostconfig.toml` that is not trusted; a terminal is asked by default.

    Raises:
        ConfigError: it is wrong, unless `collect` is set; or `./hostconfig.toml` is not trusted.
    """
    overrides: dict[str, Any] = {} if transports is None else {"host": {"transports": list(transports)}}
    if getattr(options, "finish", False):
        overrides["plugins"] = {"stdio": {"after_eof": "finish"}}
    lowest = defaults() if lowest is None else lowest
    return HostConfig.load(
        options.config,
        environ=os.environ,
        defaults=lowest,
        overrides=overrides,
        collect=collect,
        on_untrusted=on_untrusted or partial(_ask, options),
    )


def _ask(options: Namespace, untrusted: Untrusted) -> bool:
    from pegboard.cli.trust_commands import ask

    return ask(untrusted, options)


def skip_untrusted(untrusted: Untrusted) -> bool:
    """Go on without a file that is not trusted: a client that starts the host over stdio cannot be asked."""
    say(f"{untrusted.problem}. The host starts without this file.")
    return False


def host_from_options(
    options: Namespace,
    transports: Sequence[str] | None = None,
    *,
    collect: bool = False,
    serving: bool = False,
    on_untrusted: OnUntrusted | None = None,
) -> Host:
    """A host that is not started, with logging set up as it says; `serving` follows `[plugins.logging]`."""
    files = [*options.file, *getattr(options, "paths", ())]
    toolkits = _toolkits(files)
    lowest = defaults_for(toolkits)
    config = load_config(options, transports, collect=collect, lowest=lowest, on_untrusted=on_untrusted)
    if toolkits and config.trusted_directory is None:  # whoever runs code of a folder trusts the folder
        config = replace(config, trusted_directory=files[0].resolve().parent)
    set_up_logging(config, options.verbose, serving=serving, safe=options.safe)
    for warning in config.warnings:
        logging.getLogger("pegboard").warning("%s", warning)
    selection = Selection(tuple(options.only), options.safe, options.strict)
    if toolkits:
        only = (*selection.only, *toolkits) if selection.only else ()
        selection = selection._replace(only=only, autoload=False, word="named with its file")
    return Host(config, toolkits=toolkits, selection=selection)


def _toolkits(files: Sequence[Path]) -> Mapping[str, ToolkitBase]:
    if not files:
        return {}
    from pegboard.loading.source_files import toolkits_in

    with diverted():
        return toolkits_in(files)


def defaults_for(toolkits: Mapping[str, ToolkitBase]) -> Mapping[str, Any]:
    """The defaults of the built-in plugins; a server of a single toolkit bears the toolkit's name and version."""
    if len(toolkits) != 1:
        return defaults()
    (kit,) = toolkits.values()
    said = {"name": kit.name, "title": kit.title, "description": kit.description, "version": kit.version}
    host = {key: value for key, value in said.items() if value is not None}
    return {**defaults(), "host": {**defaults().get("host", {}), **host}}


def loaded_host(options: Namespace) -> Host:
    """A host to look at: loaded, not started. What is wrong is said on stderr, and is no reason to stop."""
    host = host_from_options(options)
    with diverted():
        host.load()
    for problem in host.problems:
        say(f"{problem.level}: {problem}")
    if any(problem.fatal for problem in host.problems):
        say("the host does not start like this")
    return host
