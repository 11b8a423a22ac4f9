"""`list`, `show` and `call`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import CliCommand

_TOOL = (
    "tool",
    {"help": "the name of a tool, in any spelling; of another server also a prompt, or the URI of a resource"},
)

COMMANDS = (
    CliCommand(
        "list",
        "commands.listing:run_list",
        "list the tools",
        ("pegboard list", "pegboard list --only files --json", "pegboard list --url https://example.com/mcp"),
        elsewhere="other_servers.other_server:list_server",
    ),
    CliCommand(
        "show",
        "commands.listing:run_show",
        "show one tool: its description, parameters and result",
        (
            "pegboard show files_read",
            "pegboard show Files.Read --json",
            "pegboard show search --url https://example.com/mcp",
        ),
        (_TOOL,),
        elsewhere="other_servers.other_server:show_item",
    ),
    CliCommand(
        "call",
        "commands.call:run_call",
        "call one tool",
        (
            "pegboard call files_read path=README.md",
            "pegboard call files_list path=. depth:=2 --json",
            "pegboard call search query=cups --url https://example.com/mcp --login",
            "pegboard call notes://today --stdio some-server",
        ),
        (
            _TOOL,
            (
                "arguments",
                {
                    "nargs": "*",
                    "default": [],  # without it argparse requires one
                    "metavar": "key=value",
                    "help": "key=value for a string, key:=json for JSON",
                },
            ),
        ),
        elsewhere="other_servers.other_server:call_item",
    ),
)
