"""`operator-token` and `reload`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

COMMANDS = (
    CliCommand(
        "operator-token",
        "commands.token_command:run_operator_token",
        "print the token by which `pegboard serve` recognizes its operator",
        ("pegboard operator-token", "pegboard operator-token --json"),
    ),
    CliCommand(
        "reload",
        "commands.reload_command:run_reload",
        "let running hosts apply changes of toolkits, plugins and settings",
        ("pegboard reload", "pegboard reload --json"),
    ),
)
