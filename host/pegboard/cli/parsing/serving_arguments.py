"""`stdio`, `serve` and `demo`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import FILES, CliCommand, comma_separated, setting

_ROOT = setting("--root", "toolkits.files.roots", "FOLDER", "the tools for files work in this folder", action="append")


def _toolkits(text: str) -> list[tuple[str, str]]:
    return [("toolkit", name) for name in comma_separated(text)]


_WITHOUT = {"type": _toolkits, "default": (), "metavar": "NAMES", "help": "leave out these toolkits"}

_RELOAD = {
    "dest": "host.reload",
    "action": "store_const",
    "const": True,
    "help": "reload toolkits and settings when their files change ([host] reload)",
}

COMMANDS = (
    CliCommand(
        "stdio",
        "serving.serve:run_stdio",
        "serve one MCP client over standard input and output",
        ("pegboard stdio", "pegboard stdio --only files", "pegboard stdio demo.py", "pegboard stdio --finish < calls"),
        (
            FILES,
            _ROOT,
            ("--without", _WITHOUT),
            ("--reload", _RELOAD),
        ),
    ),
    CliCommand(
        "serve",
        "serving.serve:run_serve",
        "serve over the transports in [host] transports",
        ("pegboard serve", "pegboard serve --config prod.toml", "pegboard serve demo.py --port 9000"),
        (
            FILES,
            setting("--transport", "host.transports", "NAMES", "run these transports", type=comma_separated),
            ("--reload", _RELOAD),
        ),
    ),
    CliCommand(
        "demo",
        "commands.demo_command:run_demo",
        "show a client that calls the tools of a server; needs no file",
        ("pegboard demo", "pegboard demo -v", "pegboard demo --code > shop.py"),
        (("--code", {"action": "store_true", "help": "print the code of the server"}),),
    ),
)
