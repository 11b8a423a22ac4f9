"""Runs a command of an installed server: `python launch.py DISTRIBUTION original|changed [arguments]`.

The server reaches no other machine, and does not wait before it tries again. A changed copy cannot import the
framework that it was written for.
"""

import asyncio
import socket
import sys
import time
from importlib.metadata import distribution
from typing import Any, NoReturn

FRAMEWORKS = ("arcade_mcp_server", "fastmcp", "mcp", "mcp_types")
_LOCAL = ("localhost", "127.0.0.1", "::1", None)


class _Absent:
    """A finder that finds no framework."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in FRAMEWORKS:
            raise ModuleNotFoundError(f"the changed copy imports {name}", name=name)


def _without_network(resolve: Any) -> Any:
    def resolved(host: Any, *arguments: Any, **keywords: Any) -> Any:
        return resolve(host, *arguments, **keywords) if host in _LOCAL else _refuse(host)

    return resolved


def _briefly(sleep: Any) -> Any:
    return lambda seconds, *more: sleep(min(seconds, 0.02), *more)


def _refuse(host: object) -> NoReturn:
    raise socket.gaierror(socket.EAI_NONAME, f"{host} is out of reach")


def main() -> None:
    """Call the function of the first command that has the name of the distribution, else of the first command."""
    name, form, *arguments = sys.argv[1:]
    socket.getaddrinfo = _without_network(socket.getaddrinfo)
    time.sleep, asyncio.sleep = _briefly(time.sleep), _briefly(asyncio.sleep)
    if form == "changed":
        sys.meta_path.insert(0, _Absent)
    commands = [entry for entry in distribution(name).entry_points if entry.group == "console_scripts"]
    command = next((entry for entry in commands if entry.name == name), commands[0])
    sys.argv = [command.name, *arguments]
    sys.exit(command.load()())


main()
