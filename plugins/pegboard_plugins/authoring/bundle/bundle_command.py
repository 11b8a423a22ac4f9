"""`pegboard bundle`: a server with all that it requires, in one file of the format MCP Bundles.

The client starts the Python of its machine, of the same minor release, with the modules of the bundle and no others.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.plugin import CommandContext, RequestedSecret, encode
from pegboard.terminal import UsageError, print_json, print_lines
from pegboard.types import Tool
from pegboard_plugins.authoring.bundle.bundled_files import (
    distributions_imported_by,
    files_of,
    required_distributions,
    server_files,
)

MAIN_FILE = "server/main.py"
MODULES = "server/lib"
SOURCES = "server/files"

_MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
_FILES_TOOLKIT = "files"
"""The toolkit whose tools are not served without a folder (`--root`)."""
_ROOT = {"type": "directory", "title": "Folder", "description": "The tools for files work in this folder."}


def manifest(
    name: str, version: str, author: str, tools: Sequence[Tool], toolkits: Sequence[str], server: dict[str, Any]
) -> dict[str, Any]:
    """Return the manifest of a bundle. `server` has the members that `server_members` returns.

    https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md describes it.
    """
    return {
        "manifest_version": "0.3",
        "name": name,
        "version": version,
        "description": f"Tools of {', '.join(toolkits)}.",
        "author": {"name": author},
        **server,
        "tools": [{"name": tool.name, "description": tool.description or ""} for tool in tools],
        "compatibility": {
            "platforms": [sys.platform],
            "runtimes": {"python": f">={_MINOR} <{sys.version_info.major}.{sys.version_info.minor + 1}"},
        },
    }


def server_members(
    arguments: Sequence[str], toolkits: Sequence[str], secrets: Sequence[RequestedSecret]
) -> dict[str, Any]:
    """Return the command of the server, and the values that the client asks the user for: secrets and a folder.

    The interpreter reads neither its environment nor the packages of the machine (`-I -S`).

    Args:
        arguments: the files in `SOURCES`; () for installed toolkits.
        toolkits: the names of the toolkits.
        secrets: the secrets that tools declare.
    """
    folder = "${__dirname}"
    launch = ["py", f"-{_MINOR}"] if sys.platform == "win32" else [f"python{_MINOR}"]
    has_files = _FILES_TOOLKIT in toolkits
    command = [
        *(*launch, "-I", "-S", f"{folder}/{MAIN_FILE}", "stdio"),
        *(f"{folder}/{SOURCES}/{argument}" for argument in arguments),
        *(("--root", "${user_config.root}") if has_files else ()),
    ]
    asked = {
        secret.name: {
            "type": "string",
            "title": secret.name,
            "description": f"A secret of {secret.user}.",
            "sensitive": True,
        }
        for secret in secrets
    }
    values = asked | ({"root": _ROOT} if has_files else {})
    config = {"command": command[0], "args": command[1:], "env": {key: f"${{user_config.{key}}}" for key in asked}}
    return {
        "server": {"type": "python", "entry_point": MAIN_FILE, "mcp_config": config},
        "user_config": {key: {**value, "required": True} for key, value in values.items()},
    }


_OWN = "pegboard"
_MAIN = f'''\
"""Starts the server of this bundle. `pegboard bundle` has written it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "{MODULES.rpartition("/")[2]}"))

from pegboard.cli import main

sys.exit(main())
'''


class BundleOutput(TypedDict):
    """The output of `pegboard bundle`."""

    file: str
    name: str
    version: str
    tools: list[str]
    distributions: list[str]


def run_bundle(command: CommandContext) -> int:
    """Write the bundle.

    Raises:
        UsageError: there are no tools, or something cannot be bundled.
    """
    host, options = command.host, command.options
    tools = [bound.tool for bound in host.assembly.tools.values()]
    _check(command, has_tools=bool(tools))
    paths = [path.expanduser().resolve() for path in (*options.paths, *options.file)]
    root = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths])) if paths else Path()
    sources = server_files(paths, root) if paths else []
    origins = [plugin.origin for plugin in host.report.plugins]
    toolkits = [origin.name for origin in origins if origin.kind == "toolkit"]
    owners = [origin.distribution for origin in origins if origin.distribution]
    distributions = required_distributions([_OWN, *owners, *distributions_imported_by(sources)])
    name = options.name or _name([path.stem for path in paths] or toolkits)
    versions = [*{tool.version for tool in tools if tool.version}]
    version = versions[0] if len(versions) == 1 else distributions[0].version
    arguments = [path.relative_to(root).as_posix() for path in paths]
    server = server_members(arguments, toolkits, _secrets(command))
    described = manifest(name, version, options.author, tools, toolkits, server)
    contents = {"manifest.json": encode(described), MAIN_FILE: _MAIN.encode()}
    contents |= {f"{SOURCES}/{source.relative_to(root).as_posix()}": source.read_bytes() for source in sources}
    for distribution in distributions:
        contents |= {f"{MODULES}/{path}": source.read_bytes() for path, source in files_of(distribution)}
    file = options.output or Path(f"{name}.mcpb")
    with ZipFile(file, "w") as archive:
        for path, content in sorted(contents.items()):
            archive.writestr(ZipInfo(path), content, ZIP_DEFLATED)  # without times: equal contents are equal files
    names = sorted(f"{distribution.metadata['Name']} {distribution.version}" for distribution in distributions)
    report = BundleOutput(
        file=str(file), name=name, version=version, tools=[tool.name for tool in tools], distributions=names
    )
    if options.json:
        print_json(report)
    else:
        print_lines(
            [
                f"wrote {file}: {name} {version}; tools: {len(tools)}; distributions: {len(names)}",
                *(f"  {line}" for line in names),
            ]
        )
    return 0


def _check(command: CommandContext, *, has_tools: bool) -> None:
    if command.options.config:
        raise UsageError("a bundle carries no configuration file: leave out --config")
    if problems := [str(problem) for problem in command.host.problems if problem.fatal]:
        raise UsageError("\n".join(problems))
    found = [plugin.origin for plugin in command.host.report.plugins if plugin.origin.found is not None]
    if found and not (command.options.paths or command.options.file):
        raise UsageError(f"{found[0]} is not an installed distribution: name its file, or leave it out with --only")
    if not has_tools:
        raise UsageError("there are no tools to bundle: name a file that defines tools, or install a toolkit")


def _name(names: Sequence[str]) -> str:
    """Return the name of the only file or toolkit, or that of pegboard."""
    return re.sub(r"[^A-Za-z0-9]+", "-", names[0]).strip("-") if len(names) == 1 else _OWN


def _secrets(command: CommandContext) -> list[RequestedSecret]:
    return [secret for secret in command.requested_secrets(command.host) if secret.tools]
