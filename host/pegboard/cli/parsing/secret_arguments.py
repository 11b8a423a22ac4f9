"""`secret` and its commands."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

_SECRET = ("secret", {"metavar": "NAME", "help": "the name of the secret"})
_STORE = ("--store", {"metavar": "STORE", "help": "change this store; by default the first one that can be changed"})

_GROUP = (
    CliCommand(
        "list",
        "commands.secret_commands:run_secret_list",
        "list the secrets that toolkits and plugins use, and those that are missing",
        ("pegboard secret list", "pegboard secret list --json"),
    ),
    CliCommand(
        "set",
        "commands.secret_commands:run_secret_set",
        "ask for the value of a secret without showing it, and store it",
        ("pegboard secret set API_KEY", "pegboard secret set API_KEY --store secrets_keyring < key.txt"),
        (_SECRET, _STORE),
    ),
    CliCommand(
        "unset",
        "commands.secret_commands:run_secret_unset",
        "remove a secret from the stores",
        ("pegboard secret unset API_KEY", "pegboard secret unset API_KEY --store secrets_keyring"),
        (_SECRET, _STORE),
    ),
)

COMMANDS = (
    CliCommand(
        "secret",
        "",
        "list, set and remove the secrets of tools",
        ("pegboard secret list", "pegboard secret set API_KEY", "pegboard secret unset API_KEY"),
        group=_GROUP,
    ),
)
