"""The commands of plugins."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections import Counter

from pegboard.cli import OK
from pegboard.cli.host_setup import host_from_options
from pegboard.cli.output import diverted, print_text, say
from pegboard.errors import MCPError, ServerError
from pegboard.hookspecs import register_commands
from pegboard.loading.failure_text import failure_text
from pegboard.loading.plugins import contributions_of, refuse_fatal
from pegboard.plugin.commands import Command, CommandOutput
from pegboard.secrets.redaction import Redactor


def plugin_commands(options: Namespace, name: str) -> list[Command]:
    """Return the commands of all enabled plugins.

    Args:
        options: the options of all commands.
        name: the word at the place of the command, such as "login" or "--help".

    Raises:
        ConfigError: the configuration is invalid or not trusted.
        PluginError: no plugin adds the command, and a plugin failed.
    """
    host = host_from_options(options)
    with diverted():
        host.load()
    found = [command for _, command in contributions_of(host.report.plugins, register_commands)]
    times = Counter(command.name for command in found)
    if name not in times and not name.startswith("-"):
        refuse_fatal(host.problems, Redactor())
    for problem in host.problems:
        if problem.fatal:
            say(str(problem))
    for several in [several for several, count in times.items() if count > 1]:
        say(f"several plugins add a command {several!r}: disable all but one of them")
    return [command for command in found if times[command.name] == 1]


def run_plugin_command(command: Command, options: Namespace) -> int:
    """Run a command of a plugin and print the string that it returns. An unexpected error is printed in one line."""
    try:
        with diverted():
            found = command.run(options)
    except MCPError:
        raise
    except Exception as error:
        logging.getLogger("pegboard").debug("the command %s failed", command.name, exc_info=True)
        raise ServerError(f"the command {command.name!r} failed: {failure_text(error)}") from None
    output = found if isinstance(found, CommandOutput) else CommandOutput(found, OK)
    if output.text:
        print_text(output.text)
    return output.exit_code
