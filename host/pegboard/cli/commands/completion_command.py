"""`pegboard completion`: a script that completes commands, options and tools in a shell."""

from __future__ import annotations

from pegboard.cli import OK
from pegboard.cli.completion.completed_words import completed_words
from pegboard.cli.completion.shell_scripts import SCRIPTS
from pegboard.plugin.commands import CommandContext
from pegboard.terminal.printing import print_json, print_text


def run_completion(command: CommandContext) -> int:
    """Print the script for a shell."""
    script = SCRIPTS[command.options.chosen](completed_words(command.command_line(of_plugins=True)))
    shell = {"shell": command.options.chosen, "script": script}
    print_json(shell) if command.options.json else print_text(script.rstrip("\n"))
    return OK
