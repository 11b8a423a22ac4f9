"""`plugins`, `why`, `enable` and `disable`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

_NAME = ("name", {"help": "an installed plugin or toolkit: its name, or distribution:name"})

COMMANDS = (
    CliCommand(
        "plugins",
        "commands.listing:run_plugins",
        "list plugins and toolkits with their problems",
        ("pegboard plugins", "pegboard plugins --json"),
    ),
    CliCommand(
        "why",
        "commands.why:run_why",
        "explain why a plugin, toolkit or tool is served or not",
        ("pegboard why files", "pegboard why files_write"),
        (("name", {"help": "a plugin, toolkit or tool, in any spelling"}),),
    ),
    CliCommand(
        "enable",
        "commands.edit_commands:run_enable",
        "enable a plugin or toolkit",
        ("pegboard enable cache",),
        (_NAME,),
    ),
    CliCommand(
        "disable",
        "commands.edit_commands:run_disable",
        "disable a plugin or toolkit",
        ("pegboard disable cache",),
        (_NAME,),
    ),
)
