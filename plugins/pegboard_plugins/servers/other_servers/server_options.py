"""The options of `list`, `show` and `call` that select another MCP server."""

from __future__ import annotations

import argparse
import shlex

from pegboard.terminal import UsageError


def check_server_options(options: argparse.Namespace) -> None:
    """Refuse options that do not apply to the server.

    Raises:
        UsageError: an option has no effect, or there are two servers.
    """
    of_url = {"--header": options.header, "--login": options.login}
    of_task = {f"--{name}": vars(options).get(name) for name in ("task", "resume")}  # options of `call` only
    unused = [] if options.url else [f"{name} has no effect without --url" for name, value in of_url.items() if value]
    unused += ["--no-browser has no effect without --login"] if options.no_browser and not options.login else []
    if options.stdio:
        unused += [f"{name} has no effect with --stdio" for name, value in of_task.items() if value]
    if options.url and options.stdio:
        unused = ["argument --stdio: not allowed with argument --url"]
    is_named = bool(options.url or options.stdio)
    of_host = {"--config": options.config if is_named else None, "--only": options.only, "--file": options.file}
    place = "--url and --stdio" if is_named else "--task and --resume"
    unused += [f"{name} has no effect with {place}" for name, value in of_host.items() if value]
    if unused:
        raise UsageError(unused[0], program=f"pegboard {options.chosen}")


def command_words(text: str) -> list[str]:
    """Return the words of a quoted command line."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a command line: {error}") from None
    if not words:
        raise argparse.ArgumentTypeError("the command line is empty: write a command, such as 'python server.py'")
    return words
