"""`stdio`, `serve` and `demo`."""

from __future__ import annotations

from pegboard.cli.parsing.cli_command import FILES, CliCommand, comma_separated, setting

_PACKAGE = setting(
    "--tool-package",
    "plugins.tool_packages.names",
    "NAMES",
    "serve these packages, without other installed toolkits",
    type=comma_separated,
)
_FINISH = {
    "dest": "plugins.stdio.after_eof",
    "action": "store_const",
    "const": "finish",
    "help": "when the input ends, finish the calls in flight instead of cancelling them",
}
_LOCKED = {
    "dest": "plugins.lock.locked",
    "action": "store_const",
    "const": True,
    "help": "serve only the definitions in pegboard.lock ([plugins.lock] locked)",
}

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
            _PACKAGE,
            _ROOT,
            ("--without", _WITHOUT),
            ("--finish", _FINISH),
            ("--locked", _LOCKED),
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
            _PACKAGE,
            setting("--host", "plugins.http.host", "ADDRESS", "listen at this address"),
            setting("--port", "plugins.http.port", "PORT", "listen at this port; 0 for any free port", type=int),
            setting("--path", "plugins.mcp.path", "PATH", "the path of the MCP endpoint"),
            setting("--transport", "host.transports", "NAMES", "run these transports", type=comma_separated),
            ("--locked", _LOCKED),
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
