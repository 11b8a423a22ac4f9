"""`lock`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

COMMANDS = (
    CliCommand(
        "lock",
        "commands.lock_command:run_lock",
        "write pegboard.lock, or compare it with the definitions that the host would serve",
        ("pegboard lock", "pegboard lock --check", "pegboard lock --update"),
        (
            ("--check", {"action": "store_true", "help": "only show the differences; exit code 1 if there are any"}),
            ("--update", {"action": "store_true", "help": "show the differences, and ask whether to accept them"}),
            ("--prune", {"action": "store_true", "help": "remove toolkits and servers that have no items now"}),
            ("--yes", {"action": "store_true", "help": "with --update, accept the differences without a question"}),
        ),
    ),
)
