"""The commands at the prompt of `pegboard dev`."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from pegboard.errors import MCPError, ServerError, TransportError
from pegboard.terminal import (
    UsageError,
    clear_progress,
    failure_fields,
    flush,
    is_interactive,
    parse_arguments,
    print_json,
    print_lines,
    print_result_json,
    say,
    show_progress,
)
from pegboard_plugins.authoring.dev.served_file import FileVersion, ServedFile
from pegboard_plugins.servers.other_servers.server_items import (
    Item,
    are_unsuitable,
    call_named,
    found_in,
    has_failed,
    parameters_hint,
    print_called,
    print_lists,
    print_shown,
)

PROMPT_COMMANDS: Mapping[str, tuple[str, str]] = {
    "list": ("list", "list the tools, prompts and resources"),
    "show": ("show NAME", "show one of them: its description and its parameters"),
    "call": ("[call] NAME key=value ...", "call a tool; key:=json for values that are not strings"),
    "help": ("help", "show the commands"),
}
_KEYS = "Tab completes names and arguments. Ctrl-C cancels a call. Ctrl-D ends."


class PromptCommands:
    """Runs the lines of a user.

    Args:
        served: the file.
        options: the options of the command line.
    """

    def __init__(self, served: ServedFile, options: Namespace) -> None:
        self._served = served
        self._json = bool(options.json)
        self._progress = show_progress if options.verbose or is_interactive() else None

    async def run(self, line: str) -> bool:
        """Run one line, and print its result. Return False if it failed."""
        try:
            return await self._run(line)
        except TransportError:
            self._print_failure("the process that runs the file ended during the call; it is started again")
            await self._served.restart()
        except (MCPError, ValueError) as error:
            self._print_failure(str(error))
        return False

    async def _run(self, line: str) -> bool:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{error}: add the missing quotation mark") from None
        await self._served.wait_loaded()
        name, *rest = words or ["help"]
        version = self._served.version
        if name == "help":
            self._print_help()
        elif version is None:
            raise ServerError("there is no working version yet; correct the file and save it")
        elif name == "list":
            self._print_json(version.lists) if self._json else print_lists(version.lists)
        else:
            return await self._run_on_item(version, name, rest)
        return True

    async def _run_on_item(self, version: FileVersion, name: str, rest: list[str]) -> bool:
        shows = name == "show"
        if name in ("show", "call"):
            if not rest:
                raise UsageError(f"write a name: {PROMPT_COMMANDS[name][0]}")
            name, *rest = rest
        if not shows:
            return await self._call(version, name, parse_arguments(rest))
        kind, item = found_in(version.lists, name, "`list`")
        self._print_json(item) if self._json else print_shown(kind, item)
        return True

    async def _call(self, version: FileVersion, name: str, arguments: Mapping[str, Any]) -> bool:
        async with version.turn:
            try:
                kind, item = found_in(version.lists, name, "`list`") if "://" not in name else ("resources", {})
                result = await call_named(version.client, (kind, item), name, arguments, self._progress)
            finally:
                clear_progress()
        print_result_json(result, in_one_line=True) if self._json else print_called(kind, result, as_json=False)
        if has_failed(result) and are_unsuitable(arguments, item):
            flush()
            say(parameters_hint(f"`show {name}`"))
        return not has_failed(result)

    def _print_json(self, value: Any) -> None:
        print_json(value, in_one_line=True)

    def _print_failure(self, message: str) -> None:
        self._print_json(failure_fields(message, 1)) if self._json else say(message)

    def _print_help(self) -> None:
        if self._json:
            self._print_json(dict(PROMPT_COMMANDS.values()))
            return
        width = max(len(usage) for usage, _ in PROMPT_COMMANDS.values())
        print_lines([*(f"{usage:{width}}  {purpose}" for usage, purpose in PROMPT_COMMANDS.values()), "", _KEYS])

    def completions(self, before: list[str], text: str) -> list[str]:
        """Return the completions of a word, from the words before it: commands, names, parameters and choices."""
        items = self._served.version.items() if self._served.version else {}
        if before[:1] in (["show"], ["call"]):
            shows, *before = before
            commands: tuple[str, ...] = ()
        else:
            shows, commands = "", tuple(PROMPT_COMMANDS)
        if not before:
            words = [f"{name} " for name in (*commands, *items)]
        elif shows == "show":
            return []
        else:
            words = list(_arguments(items.get(before[0], {})))
        return [word for word in words if word.startswith(text)]


def _arguments(item: Item) -> list[str]:
    """Return the arguments of a tool or prompt as far as its description has them: `key=`, `key:=`, `key=choice`."""
    schema = item.get("inputSchema")
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    texts = [f"{argument.get('name')}=" for argument in item.get("arguments", ()) if isinstance(argument, dict)]
    for name, parameter in properties.items():
        choices = parameter.get("enum", ())
        texts += [f"{name}={choice} " for choice in choices if isinstance(choice, str)]
        if not choices:
            texts.append(f"{name}=" if parameter.get("type") == "string" else f"{name}:=")
    return texts
