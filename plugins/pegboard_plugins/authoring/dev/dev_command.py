"""`pegboard dev FILE`: the main thread reads lines, and an event loop in another thread serves the file."""

from __future__ import annotations

import gc
import sys
from argparse import Namespace

from pegboard.errors import PluginError
from pegboard.plugin import CommandContext
from pegboard.terminal import Terminal, flush, is_interactive, say
from pegboard_plugins.authoring.dev.loop_thread import LoopThread
from pegboard_plugins.authoring.dev.prompt_commands import PromptCommands
from pegboard_plugins.authoring.dev.prompt_line import PromptLine
from pegboard_plugins.authoring.dev.served_file import ServedFile
from pegboard_plugins.servers.other_servers.other_server import ask_at_terminal


def run_dev(command: CommandContext) -> int:
    """Serve a file, and run the lines of a user until the input ends."""
    if not command.options.path.is_file():
        raise PluginError(f"there is no file {command.options.path}: correct the path")
    gc.enable()
    is_terminal = is_interactive() and sys.stdout is not None and sys.stdout.isatty()
    served = _served(command.options, asks=is_terminal)
    commands = PromptCommands(served, command.options)
    prompt = PromptLine(commands.completions, is_terminal=is_terminal)
    code = 0
    with LoopThread() as loop:
        following = loop.start(served.follow())
        try:
            loop.run(served.wait_loaded())
            for line in prompt.lines():
                if line.strip() and not _run(loop, commands, line, is_terminal=is_terminal):
                    code = 1
        finally:
            following.cancel()
    if is_terminal:
        print()
        return 0
    return code


def _served(options: Namespace, *, asks: bool) -> ServedFile:
    if not asks:
        return ServedFile(options, None, {})
    return ServedFile(options, ask_at_terminal(options.path.name), Terminal.capabilities)


def _run(loop: LoopThread, commands: PromptCommands, line: str, *, is_terminal: bool) -> bool:
    """Run one line. Return False if it failed. At a terminal, Ctrl-C ends only the line."""
    try:
        worked = loop.run(commands.run(line))
        flush()
        return worked
    except KeyboardInterrupt:
        if not is_terminal:
            raise
        say("cancelled")
        return False
