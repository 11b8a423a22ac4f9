"""The manifest of a bundle: https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from pegboard.plugin import RequestedSecret
from pegboard.types import Tool

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
    """Return the manifest. `server` has the members that `server_members` returns."""
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
    """Return how a client starts the server, and what it asks the user for: secrets of tools, and a folder.

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
