"""`pegboard enable`, `disable` and `config set`: changes of the configuration file that keep its comments.

A change that causes a problem is not written.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import tomlkit
from tomlkit.items import Item

from pegboard.cli import OK
from pegboard.cli.commands.edited_config import EditedConfig
from pegboard.config import ConfigProblem
from pegboard.config.environment import literal
from pegboard.config.problems import KeyPath, dotted
from pegboard.errors import ConfigError
from pegboard.loading.discovery import find_plugins, names_origin
from pegboard.loading.plugins import LoadProblem
from pegboard.messages.error_words import WORDS
from pegboard.names import nearest
from pegboard.plugin.commands import CommandContext
from pegboard.plugin.origin import Origin
from pegboard.terminal.printing import print_json, print_lines, say


def run_enable(command: CommandContext) -> int:
    """Enable a plugin or toolkit in the configuration file."""
    return _switch(command.options, on=True)


def run_disable(command: CommandContext) -> int:
    """Disable a plugin or toolkit in the configuration file."""
    return _switch(command.options, on=False)


def run_config_set(command: CommandContext) -> int:
    """Set a key in the configuration file. The value is TOML, or else a string."""
    path = _path(command.options.key)
    problems: list[ConfigProblem | LoadProblem] = []
    for item in _items(command.options.value):
        edited = EditedConfig(command.options)
        edited.put(path, item)
        if not (added := edited.new_problems()):
            break
        problems = problems or added
    else:
        raise ConfigError(problems)
    edited.save()
    source = edited.config().source(path)
    if source.kind == "environment":
        say(f"the {source} takes precedence")
    if command.options.json:
        print_json({"file": str(edited.path), "key": dotted(path)})
    else:
        print_lines([f"set {dotted(path)} in {edited.path}"])
    return OK


def _path(key: str) -> KeyPath:
    try:
        tree: Any = tomlkit.parse(f"{key} = 0").unwrap()
    except tomlkit.exceptions.ParseError:
        tree = None
    path: list[str] = []
    while isinstance(tree, dict) and len(tree) == 1:
        ((name, tree),) = tree.items()
        path.append(name)
    if len(path) < 2 or tree != 0:
        raise ConfigError([f"{key!r} is not a key: name the table and the key, such as host.name"])
    return tuple(path)


def _items(text: str) -> Iterator[Item]:
    """Yield the possible meanings of a value: TOML, then a string, for keys that require a string."""
    value = literal(text)
    if value != text or isinstance(value, bool):
        yield tomlkit.value(text)
    if not isinstance(value, str) or value == text:
        yield tomlkit.string(text)


def _switch(options: Namespace, *, on: bool) -> int:
    edited = EditedConfig(options)
    origins = find_plugins().origins
    origin = _installed(options.name, origins)
    word = "enabled" if on else "disabled"
    choice = edited.choice(origin, origins)
    changed = choice.on is not on
    if changed:
        name = options.name if ":" in options.name else origin.name
        for step in (_forget_disabled, _name) if on else (_disable,):
            step(edited, origin, name)
            choice = edited.choice(origin, origins)
            if choice.on is on:
                break
        else:
            raise ConfigError([f"{origin.name} cannot be {word}: {choice.reason}"])
        if problems := edited.new_problems():
            raise ConfigError([*map(_with_next_step, problems)])
        edited.save()
    if options.json:
        print_json({"file": str(edited.path), "name": origin.name, "enabled": on, "changed": changed})
    elif changed:
        print_lines([f"{word} {origin.kind} {origin.name} in {edited.path}; restart servers to apply it"])
    else:
        print_lines([f"{origin.kind} {origin.name} is {word} already: {choice.reason}"])
    return OK


def _with_next_step(problem: ConfigProblem | LoadProblem) -> ConfigProblem | LoadProblem:
    """Return the problem of a missing key, with the command that sets the key. Setting it enables the plugin."""
    origin = problem.cause if isinstance(problem, LoadProblem) else problem
    if origin is None or origin.message != WORDS["setting_missing"]:
        return problem
    command = f"pegboard config set {origin.key} VALUE"
    return origin._replace(message=f"{origin.message}; set it with `{command}`", line=None)


def _installed(name: str, origins: tuple[Origin, ...]) -> Origin:
    matching = [origin for origin in origins if names_origin(name, origin)]
    if not matching:
        close = nearest(name, {origin.name for origin in origins})
        raise ConfigError(
            [ConfigProblem(f"no plugin or toolkit with the name {name!r} is installed", suggestion=close)]
        )
    if len(matching) > 1:
        names = ", ".join(f"{origin.distribution}:{origin.name} ({origin.kind})" for origin in matching)
        raise ConfigError([f"{name!r} names several: {names}"])
    return matching[0]


def _forget_disabled(edited: EditedConfig, origin: Origin, name: str) -> None:
    edited.remove(("host", f"disabled_{origin.kind}s"), lambda text: names_origin(text, origin))


def _name(edited: EditedConfig, origin: Origin, name: str) -> None:
    if origin.kind == "plugin":
        edited.append(("host", "plugins"), name)
    else:
        edited.table(("toolkits", origin.name))


def _disable(edited: EditedConfig, origin: Origin, name: str) -> None:
    if origin.kind == "plugin":
        edited.remove(("host", "plugins"), lambda text: names_origin(text, origin))
    edited.append(("host", f"disabled_{origin.kind}s"), name)
