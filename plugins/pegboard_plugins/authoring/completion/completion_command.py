"""`pegboard completion`: a script that completes commands, options and tools in a shell."""

from __future__ import annotations

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.plugin import CommandContext
from pegboard.terminal import print_json, print_text
from pegboard_plugins.authoring.completion.completed_words import completed_words
from pegboard_plugins.authoring.completion.shell_scripts import SCRIPTS


class ScriptOutput(TypedDict):
    """The output of `pegboard completion`."""

    shell: str
    script: str


def run_completion(command: CommandContext) -> int:
    """Print the script for a shell."""
    script = SCRIPTS[command.options.chosen](completed_words(command.command_line(of_plugins=True)))
    output = ScriptOutput(shell=command.options.chosen, script=script)
    print_json(output) if command.options.json else print_text(script.rstrip("\n"))
    return 0
