"""`Toolkit.run`: a program that serves its own toolkit, by the rules of the `pegboard` command."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.cli import exit_code_of
from pegboard.cli.command_config import log_warnings
from pegboard.cli.host_setup import defaults_for, skip_untrusted
from pegboard.cli.log_setup import set_up_logging
from pegboard.cli.serving.serve import serve, serve_stdio
from pegboard.config import HostConfig, Layer
from pegboard.config.trust import refuse_untrusted
from pegboard.errors import PluginError
from pegboard.host import Host
from pegboard.loading.discovery import Selection
from pegboard.loading.source_files import being_loaded


def serve_toolkit(kit: ToolkitBase, transport: str, plugins: Mapping[str, Any]) -> None:
    """Serve a toolkit until the host stops.

    Raises:
        SystemExit: the host could not start or failed; the code is the exit code of the command.
        RuntimeError: an event loop runs in this thread.
        TypeError: an address was given for a transport without addresses, or settings are no mapping.
        PluginError: the command is loading the file that calls this.
    """
    if transport == "stdio" and plugins[transport].keys() & {"host", "port"}:
        raise TypeError('only HTTP has an address: kit.run("http", port=8001)')
    if wrong := next((name for name, keys in plugins.items() if not isinstance(keys, Mapping)), None):
        raise TypeError(f"plugins are settings, such as {{{wrong!r}: {{}}}}: pegboard.Host(plugins=...) runs a class")
    if file := being_loaded():
        raise PluginError(f'{file.name} calls run() on import: move the call below `if __name__ == "__main__":`')
    if _has_loop():
        raise RuntimeError("run() starts an event loop: in a running loop, use pegboard.Host")
    make = partial(_host, kit, transport, plugins)
    code = exit_code_of(partial(serve_stdio, make) if transport == "stdio" else lambda: serve(make()))
    if code:
        sys.exit(code)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _host(kit: ToolkitBase, transport: str, plugins: Mapping[str, Mapping[str, Any]]) -> Host:
    tree = {"host": {"transports": [transport]}, "plugins": {name: dict(keys) for name, keys in plugins.items()}}
    toolkits = {kit.name: kit}
    config = HostConfig.load(
        environ=os.environ,
        defaults=defaults_for(toolkits),
        overrides=Layer("code", tree),
        on_untrusted=skip_untrusted if transport == "stdio" else refuse_untrusted,
    )
    if config.trusted_directory is None:
        config = replace(config, trusted_directory=Path(sys.argv[0]).resolve().parent)
    set_up_logging(config, 0, serving=True)
    log_warnings(config, serving=True)
    return Host(config, toolkits=toolkits, selection=Selection(autoload=False))
