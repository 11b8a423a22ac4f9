"""`pegboard completion`: a script that completes commands, options and tools in a shell."""

from __future__ import annotations

from argparse import Namespace

from pegboard.cli import OK
from pegboard.cli.completion.completed_words import completed_words
from pegboard.cli.completion.shell_scripts import SCRIPTS
from pegboard.cli.output import print_json, print_text


def run_completion(options: Namespace) -> int:
    """Print the script for a shell."""
    script = SCRIPTS[options.chosen](completed_words())
    print_json({"shell": options.chosen, "script": script}) if options.json else print_text(script.rstrip("\n"))
    return OK
