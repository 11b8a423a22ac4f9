"""The configuration file that the host would read, for commands that change it."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from pathlib import Path

from pegboard.cli.commands.trust_commands import StateError
from pegboard.config import ConfigProblem, HostConfig, Layer, files
from pegboard.config.trust import refuse_untrusted, select_file, settings_of, trust
from pegboard.errors import ConfigError
from pegboard.host import Host
from pegboard.loading.discovery import defaults
from pegboard.plugin.commands import ConfigFile
from pegboard.terminal.printing import diverted


def config_file(options: Namespace) -> ConfigFile:
    """Return the file for the options of the command line.

    Raises:
        ConfigError: the file cannot be read, is not TOML or is not trusted, or there is no place for it.
    """
    needs_trust, is_general = False, True
    if selected := select_file(options.config, os.environ, Path.cwd(), refuse_untrusted):
        candidate, content = selected
        parsed = files.parse_file(content, Path.cwd())
        if isinstance(parsed, ConfigProblem):
            raise ConfigError([parsed])
        path, needs_trust = candidate.path, candidate.needs_trust
        is_general = not (needs_trust or candidate.named_by)
    elif folder := files.user_directory(os.environ):
        path = folder / files.FILE_NAME
    else:
        raise ConfigError(["there is no configuration file and no home directory: name a file with --config"])
    return ConfigFile(str(path), partial(_host_with, path), partial(_keep_trust, path, needs_trust), is_general)


def _host_with(path: Path, text: str) -> Host:
    content = files.FileContent(path, text.encode())
    host = Host(HostConfig.load(environ=os.environ, defaults=defaults(), collect=True, content=content))
    with diverted():
        host.load()
    return host


def _keep_trust(path: Path, needs_trust: bool, text: str) -> None:
    """Trust the file with this content, if that is its content.

    Raises:
        StateError: the state directory cannot be written.
    """
    content = files.read_file(files.Candidate(path), Path.cwd())
    if not needs_trust or isinstance(content, ConfigProblem) or content.data != text.encode():
        return
    layer = files.parse_file(content, Path.cwd())
    try:
        trust(content, settings_of(layer.tree if isinstance(layer, Layer) else {}), os.environ)
    except OSError as error:
        raise StateError(f"the trust in {path} cannot be renewed: {error}") from error
