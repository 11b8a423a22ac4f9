"""The configuration, the logging and the host that commands share."""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.cli.command_config import ask_for_trust, load_config, log_warnings
from pegboard.cli.log_setup import set_up_logging
from pegboard.cli.parsing.declared_commands import key_of_folders, names_packages
from pegboard.config import HostConfig
from pegboard.config.state import StateFiles
from pegboard.config.trust import refuse_untrusted
from pegboard.host import Host
from pegboard.loading.discovery import Selection, defaults
from pegboard.loading.plugins import NEEDS_SETTING, LoadProblem
from pegboard.terminal.printing import diverted, say
from pegboard.wire.codec import decode, encode

if TYPE_CHECKING:
    from pegboard.authoring.toolkit_base import ToolkitBase
    from pegboard.config.trust import OnUntrusted, Untrusted
    from pegboard.plugin.origin import PluginKind

NO_TRANSPORT = "[host] transports is empty: list a transport, or run `pegboard stdio`"
REPORTS_FILE = "missing-secrets.json"
MAX_REPORTS = 512
"""The maximum number of recorded reports of missing secrets. The oldest are removed first."""


def _remember_skipped(options: Namespace, decide: OnUntrusted, untrusted: Untrusted) -> bool:
    """Decide about an untrusted file. A reload repeats the decision to continue without the file."""
    is_used = decide(untrusted)
    options.is_file_skipped = not is_used
    return is_used


def skip_untrusted(untrusted: Untrusted) -> bool:
    """Continue without a file that was never trusted. A client that starts the host cannot answer a question.

    Raises:
        ConfigError: the file was trusted, and has changed or cannot be read. Without it, the user's restrictions would
            be missing.
    """
    if untrusted.pin is not None:
        refuse_untrusted(untrusted)
    say(f"{untrusted.problem}. The host starts without this file.")
    return False


def host_from_options(
    options: Namespace,
    transports: Sequence[str] | None = None,
    *,
    collect: bool = False,
    serving: bool = False,
    on_untrusted: OnUntrusted | None = None,
    without: Iterable[tuple[PluginKind, str]] = (),
    watch: Callable[[list[str]], AbstractContextManager[object]] = nullcontext,
    hidden_text: bool = False,
) -> Host:
    """Return a host that is not started, and set up logging. With `serving`, the log is that of a server."""
    paths = [*options.file, *getattr(options, "paths", ())]
    folders = [str(path) for path in paths if path.is_dir()]
    files = tuple(path for path in paths if not path.is_dir())
    if folders:
        setattr(options, key_of_folders(), folders)
    alone = folders or names_packages(options)
    toolkits = _toolkits(files)
    options.lowest = lowest = defaults_for(toolkits)
    options.is_file_skipped = False
    on_untrusted = partial(_remember_skipped, options, on_untrusted or partial(ask_for_trust, options))
    config = load_config(options, transports, collect=collect, lowest=lowest, on_untrusted=on_untrusted)
    config = _with_trusted_folder(config, paths)
    set_up_logging(config, options.verbose, serving=serving, safe=options.safe)
    if not serving and not options.verbose:
        logging.getLogger("pegboard").addFilter(NewReports())
    log_warnings(config, serving=serving)
    without = (*without, *(("toolkit", name) for name in getattr(options, "without", None) or ()))
    selection = Selection(
        (*options.only, *toolkits) if options.only else (),
        options.safe,
        options.strict,
        autoload=not (toolkits or alone),
        word="named with its file",
        without=without,
        files=files,
        watch=watch,
        hidden_text=hidden_text,
        masks_after_stop=True,
    )
    return Host(config, toolkits=toolkits, selection=selection)


def config_again(options: Namespace, transports: Sequence[str] | None = None) -> HostConfig:
    """Read the configuration again, for a reload.

    A host that has started without an untrusted file continues without it.

    Raises:
        ConfigError: the configuration is invalid, or the file in the working directory is not trusted any more.
    """

    def decide(untrusted: Untrusted) -> bool:
        return not options.is_file_skipped and refuse_untrusted(untrusted)

    paths = [*options.file, *getattr(options, "paths", ())]
    config = load_config(options, transports, lowest=options.lowest, on_untrusted=decide)
    return _with_trusted_folder(config, paths)


def _with_trusted_folder(config: HostConfig, paths: Sequence[Path]) -> HostConfig:
    """Trust the folder of the first path: a user who runs code of a folder trusts the folder."""
    if not paths or config.trusted_directory is not None:
        return config
    first = paths[0].resolve()
    return replace(config, trusted_directory=first if first.is_dir() else first.parent)


def _toolkits(files: Sequence[Path]) -> Mapping[str, ToolkitBase]:
    if not files:
        return {}
    from pegboard.loading.source_files import toolkits_in

    with diverted():
        return toolkits_in(files)


def defaults_for(toolkits: Mapping[str, ToolkitBase]) -> Mapping[str, Any]:
    """Return the defaults of the built-in plugins. A single toolkit gives the server its name and version."""
    if len(toolkits) != 1:
        return defaults()
    (kit,) = toolkits.values()
    keys = ("name", "title", "description", "version", "instructions")
    values = {key: getattr(kit, key) for key in keys}
    host = {key: value for key, value in values.items() if value is not None}
    return {**defaults(), "host": {**defaults().get("host", {}), **host}}


def loaded_host(options: Namespace, transports: Sequence[str] | None = None) -> Host:
    """Load a host without starting it, and print its problems on stderr. Return the host.

    Args:
        options: the command line.
        transports: replace `[host] transports`.

    Raises:
        ConfigError: the configuration is invalid, apart from the sections of plugins and toolkits.
    """
    host = host_from_options(options, transports)
    with diverted():
        host.load()
    problems = host.problems if options.verbose else [*new_reports(host.problems)]
    for problem in problems:
        say(f"{problem.level}: {problem}")
    shown = [(problem,) for problem in host.problems]
    logging.getLogger("pegboard").addFilter(lambda record: record.args not in shown)  # if the command starts the host
    if any(problem.stage == NEEDS_SETTING for problem in problems):
        say("`pegboard secret list` shows the secrets that are missing")
    if any(problem.fatal for problem in host.problems):
        say("the host cannot start with these problems")
    return host


# --- reports of missing secrets: commands that a user runs report each only once, servers at every start


def new_reports(problems: Iterable[LoadProblem]) -> Iterator[LoadProblem]:
    """Yield the problems without reports of missing secrets that an earlier command has printed."""
    for problem in problems:
        if problem.stage != NEEDS_SETTING or problem.fatal or _is_new(str(problem)):
            yield problem


class NewReports(logging.Filter):
    """A filter of log records that drops reports of missing secrets that an earlier command has printed."""

    def filter(self, record: logging.LogRecord) -> bool:
        problem = record.args[0] if isinstance(record.args, tuple) and record.args else None
        return not isinstance(problem, LoadProblem) or bool([*new_reports([problem])])


def _is_new(report: str) -> bool:
    """Record a report, and return False if it was recorded already."""
    try:
        try:
            known = decode(StateFiles(os.environ).read(REPORTS_FILE, secret=False) or b"[]")
        except ValueError:
            known = []
        known = known if isinstance(known, list) else []
        if report in known:
            return False
        StateFiles(os.environ).write(REPORTS_FILE, encode([*known, report][-MAX_REPORTS:]))
    except OSError as error:
        logging.getLogger("pegboard").debug("reports of missing secrets are not recorded: %s", error)
    return True
