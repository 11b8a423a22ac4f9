"""`new`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

_ARGUMENTS = (
    (
        "sort",
        {
            "nargs": "?",
            "metavar": "toolkit|plugin|server",
            "help": "the kind of project; the command asks for a missing one at a terminal",
        },
    ),
    ("name", {"nargs": "?", "help": "the name, such as weather; the folder is toolkit-weather"}),
    (
        "--kind",
        {
            "help": "the kind of plugin: transport, middleware, authenticator, error-adapter, auth-provider, "
            "token-source, secret-store, store, method, route or command"
        },
    ),
    ("--owner", {"help": "the GitHub account or organization, for server.json"}),
)

COMMANDS = (
    CliCommand(
        "new",
        "commands.new:run_new",
        "write a new toolkit, plugin or server, with tests",
        ("pegboard new toolkit weather", "pegboard new plugin acme --kind middleware", "pegboard new server notes"),
        _ARGUMENTS,
    ),
)
