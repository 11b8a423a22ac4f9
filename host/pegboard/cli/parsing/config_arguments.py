"""`config` and its commands."""

from __future__ import annotations

from pathlib import Path

from pegboard.cli.parsing.cli_command import CliCommand

_TRUSTED = (
    "path",
    {"nargs": "?", "type": Path, "metavar": "FILE", "help": "the file or folder; ./hostconfig.toml by default"},
)
_GROUP = (
    CliCommand(
        "check",
        "commands.config_commands:run_config_check",
        "print all problems that would prevent the start of `pegboard serve`",
        ("pegboard config check", "pegboard config check --config prod.toml"),
    ),
    CliCommand(
        "show",
        "commands.config_commands:run_config_show",
        "show the settings in effect and their sources",
        ("pegboard config show", "pegboard config show --json"),
    ),
    CliCommand(
        "set",
        "commands.edit_commands:run_config_set",
        "set a key in the configuration file, and keep its comments",
        ("pegboard config set host.name shed", "pegboard config set plugins.http.port 9000"),
        (("key", {"help": "the key, such as plugins.http.port"}), ("value", {"help": "TOML, or else a string"})),
    ),
    CliCommand(
        "schema",
        "commands.config_commands:run_config_schema",
        "print the JSON Schema of hostconfig.toml, for editors",
        ("pegboard config schema", "pegboard config schema > hostconfig.schema.json"),
    ),
    CliCommand(
        "trust",
        "commands.trust_commands:run_trust",
        "trust a hostconfig.toml with its present content, or the .env of a folder",
        ("pegboard config trust", "pegboard config trust path/to/hostconfig.toml", "pegboard config trust ."),
        (_TRUSTED,),
    ),
    CliCommand(
        "untrust",
        "commands.trust_commands:run_untrust",
        "withdraw the trust in a hostconfig.toml or a folder",
        ("pegboard config untrust", "pegboard config untrust path/to/hostconfig.toml"),
        (_TRUSTED,),
    ),
)

COMMANDS = (
    CliCommand(
        "config",
        "",
        "check, show or trust the configuration",
        ("pegboard config check", "pegboard config show", "pegboard config trust"),
        group=_GROUP,
    ),
)
