"""Trust in `./hostconfig.toml`: `pegboard config trust` and `untrust`, and the question at a terminal."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pegboard.cli import OK
from pegboard.cli.serving.access_settings import access_of_file, setting_lines
from pegboard.config import ConfigProblem, HostConfig, files
from pegboard.config.problems import toml_value
from pegboard.config.trust import (
    Untrusted,
    check_trust,
    refuse_untrusted,
    settings_of,
    trust,
    trust_folder,
    untrust,
    untrust_folder,
)
from pegboard.config.widened_access import AccessSetting
from pegboard.errors import ConfigError, MCPError
from pegboard.loading.discovery import defaults
from pegboard.plugin.commands import CommandContext
from pegboard.terminal.printing import agreed, diverted, print_json, print_lines, say

_MAX_CHANGES = 50
_OTHER_DIRECTORY = "set PEGBOARD_STATE_DIR to a folder that you can write"


class StateError(MCPError):
    """The state directory cannot be written."""


def run_trust(command: CommandContext) -> int:
    """Trust a configuration file with its present content, and show the settings that widen access.

    A named folder is trusted itself, too. It need not have a configuration file.
    """
    folder = _folder(command.options)
    if folder is not None:
        _trust_folder(folder)
        if not (folder / files.FILE_NAME).exists():
            if command.options.json:
                print_json({"file": str(folder), "sha256": None, "widens": []})
            else:
                print_lines([f"trusted: {folder}; tools get the secrets of its .env"])
            return OK
    content = files.read_file(files.Candidate(_path(command.options)), Path.cwd())
    if isinstance(content, ConfigProblem):
        raise ConfigError([content])
    settings, access = _read(content)
    changes = _changes(content, settings)
    digest = _trust(content, settings)
    if command.options.json:
        print_json({"file": str(content.path), "sha256": digest, "widens": [setting._asdict() for setting in access]})
    else:
        print_lines([*changes, *_about(access), f"trusted: {content.path}"])
    command.options.config = content.path
    command.connect_servers()
    return OK


def run_untrust(command: CommandContext) -> int:
    """Withdraw the trust in a configuration file, or in a named folder and its configuration file."""
    path, folder = _path(command.options), _folder(command.options)
    try:
        withdrawn = untrust(path, os.environ)
        if folder is not None:
            withdrawn = untrust_folder(folder, os.environ) or withdrawn
            path = path if path.exists() else folder
    except OSError as error:
        raise StateError(f"the trust in {path} cannot be withdrawn: {error}; {_OTHER_DIRECTORY}") from error
    if command.options.json:
        print_json({"file": str(path), "was_trusted": withdrawn})
    else:
        print_lines([f"no longer trusted: {path}" if withdrawn else f"was not trusted: {path}"])
    return OK


def ask(untrusted: Untrusted, options: Namespace) -> bool:
    """Ask at a terminal whether to trust a file with its present content. Refuse the file without a terminal.

    Raises:
        ConfigError: there is no terminal, the output is for programs, or the answer is no.
    """
    content = untrusted.content
    if content is None or options.json or not (os.isatty(0) and os.isatty(2)):
        return refuse_untrusted(untrusted)
    settings, access = _read(content)
    state = "has changed since it was trusted" if untrusted.pin else "was found in the working directory"
    for line in (f"{content.path} {state}.", *_changes(content, settings), *_about(access)):
        say(line)
    if not agreed("Trust this file as it is now?"):
        return refuse_untrusted(untrusted)
    _trust(content, settings)
    return True


def _folder(options: Namespace) -> Path | None:
    """Return the folder that the command line names, or None if it names a file or nothing."""
    named = None if options.path is None else Path.cwd() / options.path.expanduser()
    return named.resolve() if named is not None and named.is_dir() else None


def _trust_folder(folder: Path) -> None:
    try:
        trust_folder(folder, os.environ)
    except OSError as error:
        raise StateError(f"{folder} cannot be trusted: {error}; {_OTHER_DIRECTORY}") from error


def _path(options: Namespace) -> Path:
    named: Path = options.path or options.config or Path(files.FILE_NAME)
    path = Path.cwd() / named.expanduser()
    return path / files.FILE_NAME if path.is_dir() else path


def _read(content: files.FileContent) -> tuple[dict[str, Any], list[AccessSetting]]:
    """Return the settings of a file, and the settings that widen access. Read no other configuration."""
    layer = files.parse_file(content, Path.cwd())
    if isinstance(layer, ConfigProblem):
        raise ConfigError([layer])
    config = HostConfig.of(layer, defaults=defaults(), directory=content.path.parent)
    with diverted():
        return settings_of(layer.tree), access_of_file(config)


def _trust(content: files.FileContent, settings: Mapping[str, Any]) -> str:
    try:
        return trust(content, settings, os.environ)
    except OSError as error:
        raise StateError(
            f"{content.path} cannot be trusted: the state directory cannot be written: {error}; {_OTHER_DIRECTORY}"
        ) from error


def _about(access: list[AccessSetting]) -> list[str]:
    if not access:
        return ["no setting widens access"]
    return ["settings to review:", *(f"  {line}" for line in setting_lines(access))]


def _changes(content: files.FileContent, settings: Mapping[str, Any]) -> list[str]:
    """Return one line for each setting that changed since the file was trusted."""
    untrusted = check_trust(content.path, content, os.environ, Path.cwd())
    if untrusted is None or untrusted.pin is None:
        return []
    lines = list(_differences(untrusted.pin.settings, settings))
    more = [f"  and {len(lines) - _MAX_CHANGES} more"] if len(lines) > _MAX_CHANGES else []
    return ["changed settings:", *(lines[:_MAX_CHANGES] or ["  none that can be shown"]), *more]


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if key in old and (key not in new or old[key] != new[key]):
            yield f"  - {key} = {toml_value(old[key])}"
        if key in new and (key not in old or old[key] != new[key]):
            yield f"  + {key} = {toml_value(new[key])}"
