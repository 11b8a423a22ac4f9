"""`pegboard enable`, `disable` and `config set`: changes of the configuration file that keep its comments.

A change that causes a problem is not written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, InlineTable, Item, String
from typing_extensions import TypedDict

from pegboard import Host
from pegboard.errors import ConfigError
from pegboard.plugin import CommandContext
from pegboard.terminal import dotted, flush, nearest, print_json, print_lines, same_name, say
from pegboard_plugins.support.edited_file import EditedFileError, read_edited_file, replace

_MISSING = "is required and missing"
"""The problem of a key that a plugin requires and the configuration does not set."""


class SetOutput(TypedDict):
    """The output of `pegboard config set`."""

    file: str
    key: str


class SwitchOutput(TypedDict):
    """The output of `pegboard enable` and `disable`."""

    file: str
    name: str
    enabled: bool
    changed: bool


class _Unknown(NamedTuple):
    """The problem of a name that is not installed, and the nearest name that is."""

    message: str
    suggestion: str | None

    def __str__(self) -> str:
        return self.message + (f'; did you mean "{self.suggestion}"?' if self.suggestion else "")


def run_enable(command: CommandContext) -> int:
    """Enable a plugin or toolkit in the configuration file."""
    return _switch(command, on=True)


def run_disable(command: CommandContext) -> int:
    """Disable a plugin or toolkit in the configuration file."""
    return _switch(command, on=False)


def run_config_set(command: CommandContext) -> int:
    """Set a key in the configuration file. The value is TOML, or else a string."""
    path = _path(command.options.key)
    problems: list[Any] = []
    for item in _items(command.options.value):
        edited = EditedConfig(command)
        edited.put(path, item)
        if not (added := edited.new_problems()):
            break
        problems = problems or added
    else:
        raise ConfigError(problems)
    edited.save()
    source = edited.host().config.source(path)
    if source.kind == "environment":
        say(f"the {source} takes precedence")
    key = dotted(path)
    if command.options.json:
        print_json(SetOutput(file=str(edited.path), key=key))
    else:
        print_lines([f"set {key} in {edited.path}"])
        edited.say_reach()
    return 0


def _path(key: str) -> tuple[str, ...]:
    try:
        tree: Any = tomlkit.parse(f"{key} = 0").unwrap()
    except TOMLKitError:
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
    try:
        document = tomlkit.parse(f"value = {text}\n")
    except (TOMLKitError, RecursionError):
        document = tomlkit.document()
    item = document.item("value") if len(document) == 1 else None
    if isinstance(item, Item):
        yield item
    if not isinstance(item, String):
        yield tomlkit.string(text)


def _switch(command: CommandContext, *, on: bool) -> int:
    options = command.options
    edited = EditedConfig(command)
    choice = _installed(options.name, edited.host())
    origin = choice.origin
    word = "enabled" if on else "disabled"
    changed = choice.on is not on
    if changed:
        name = options.name if ":" in options.name else origin.name
        for step in (_forget_disabled, _enable) if on else (_disable,):
            step(edited, origin, name)
            choice = _installed(f"{origin.distribution}:{origin.name}", edited.host(), origin.kind)
            if choice.on is on:
                break
        else:
            raise ConfigError([f"{origin.name} cannot be {word}: {choice.reason}"])
        if problems := edited.new_problems():
            raise ConfigError([*map(_with_next_step, problems)])
        edited.save()
    if options.json:
        print_json(SwitchOutput(file=str(edited.path), name=origin.name, enabled=on, changed=changed))
    elif changed:
        print_lines([f"{word} {origin.kind} {origin.name} in {edited.path}; restart servers to apply it"])
        edited.say_reach()
    else:
        print_lines([f"{origin.kind} {origin.name} is {word} already: {choice.reason}"])
    return 0


def _with_next_step(problem: Any) -> Any:
    """Return the problem of a missing key, with the command that sets the key. Setting it enables the plugin."""
    origin = getattr(problem, "cause", problem)
    if origin is None or origin.message != _MISSING:
        return problem
    command = f"pegboard config set {origin.key} VALUE"
    return origin._replace(message=f"{origin.message}; set it with `{command}`", line=None)


def _installed(name: str, host: Host, kind: str | None = None) -> Any:
    """Return the plugin or toolkit with a name, and whether it is enabled.

    Raises:
        ConfigError: none or several are installed.
    """
    choices = [choice for choice in host.report.choices if _names(name, choice.origin)]
    matching = [choice for choice in choices if kind in (None, choice.origin.kind)]
    if not matching:
        close = nearest(name, {choice.origin.name for choice in host.report.choices})
        raise ConfigError([_Unknown(f"no plugin or toolkit with the name {name!r} is installed", close)])
    if len(matching) > 1:
        origins = [choice.origin for choice in matching]
        names = ", ".join(f"{origin.distribution}:{origin.name} ({origin.kind})" for origin in origins)
        raise ConfigError([f"{name!r} names several: {names}"])
    return matching[0]


def _names(text: str, origin: Any) -> bool:
    """Return True if a text is the name of a plugin or toolkit, or its `distribution:name`."""
    distribution, colon, name = text.rpartition(":")
    return name == origin.name and (not colon or same_name(distribution, origin.distribution))


def _forget_disabled(edited: EditedConfig, origin: Any, name: str) -> None:
    edited.remove(("host", f"disabled_{origin.kind}s"), lambda text: _names(text, origin))


def _enable(edited: EditedConfig, origin: Any, name: str) -> None:
    if origin.kind == "plugin":
        edited.append(("host", "plugins"), name)
    else:
        edited.table(("toolkits", origin.name))


def _disable(edited: EditedConfig, origin: Any, name: str) -> None:
    if origin.kind == "plugin":
        edited.remove(("host", "plugins"), lambda text: _names(text, origin))
    edited.append(("host", f"disabled_{origin.kind}s"), name)


# --- The configuration file while a command edits it. Comments and order are kept.


class EditedConfig:
    """The configuration file that the host would read. If there is none, it is made in the user's directory.

    Args:
        command: the command.

    Attributes:
        path: the file.

    Raises:
        ConfigError: the file is not TOML or is not trusted.
        EditedFileError: the file cannot be read.
    """

    def __init__(self, command: CommandContext) -> None:
        self._target = command.config_file()
        self._hosts: dict[str, Host] = {}  # by the text of the file
        self.path = Path(self._target.path)
        self._file = read_edited_file(self.path, "--config")
        try:
            self._document = tomlkit.parse((self._file.text or "").removeprefix("\ufeff"))
        except TOMLKitError as error:
            raise ConfigError([f"{self.path} cannot be changed by this command, edit it by hand: {error}"]) from error

    # --- changes

    def put(self, path: Sequence[str], item: Item) -> None:
        """Set a key, and add its tables."""
        self.table(path[:-1])[path[-1]] = item

    def append(self, path: Sequence[str], text: str) -> None:
        """Add a string to a list."""
        table, key = self.table(path[:-1]), path[-1]
        if isinstance(table.get(key), Array):
            table[key].append(text)
        else:
            table[key] = [text]

    def remove(self, path: Sequence[str], matches: Callable[[str], bool]) -> None:
        """Remove strings from a list."""
        texts: list[Any] = self.table(path[:-1]).get(path[-1]) or []
        for text in [text for text in texts if isinstance(text, str) and matches(text)]:
            texts.remove(text)

    def table(self, path: Sequence[str]) -> MutableMapping[str, Any]:
        """Return a table, and add it if it is missing.

        Raises:
            ConfigError: another value has the name of the table.
        """
        table: MutableMapping[str, Any] = self._document
        for end, part in enumerate(path, 1):
            if part not in table:
                inline = isinstance(table, InlineTable)
                table[part] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=end < len(path))
            below = table[part]
            if not isinstance(below, MutableMapping):
                raise ConfigError([f"{dotted(path[:end])} is not a table in {self.path}"])
            table = below
        return table

    # --- the result

    def host(self) -> Host:
        """Return a loaded host with the changed file. Invalid keys count as unset."""
        return self._host_with(self._text())

    def _host_with(self, text: str) -> Host:
        if text not in self._hosts:
            self._hosts[text] = self._target.host_with(text)
        return self._hosts[text]

    def new_problems(self) -> list[Any]:
        """Return the problems that the changes cause."""
        before = set(map(_without_line, _problems(self._host_with(self._file.text or ""))))
        return [problem for problem in _problems(self.host()) if _without_line(problem) not in before]

    def save(self) -> None:
        """Write the file, and make its folder. If the file was trusted, it is trusted with the new content.

        Raises:
            EditedFileError: the file or its folder cannot be written, or another program has changed the file.
            MCPError: the trust cannot be renewed.
        """
        text = self._text()
        _make(self.path.parent)
        replace(self._file, text)
        self._target.keep_trust(text)

    def say_reach(self) -> None:
        """Tell that other folders use the file, too, after the line that names it."""
        if self._target.is_general:
            flush()
            say("this file is for every folder without a hostconfig.toml of its own")

    def _text(self) -> str:
        """Return the changed text.

        Raises:
            ConfigError: the text would have another meaning than the changes.
        """
        text = tomlkit.dumps(self._document)
        if tomlkit.parse(text).unwrap() != self._document.unwrap():
            raise ConfigError([f"{self.path} cannot be changed by this command: edit it by hand"])
        return text


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EditedFileError(
            f"the folder {folder} cannot be created: {error.strerror}; name another file with --config"
        ) from None


def _problems(host: Host) -> list[Any]:
    """Return the problems of the configuration, and the errors of plugins."""
    return [*host.config.problems, *(problem for problem in host.problems if problem.level == "error")]


def _without_line(problem: object) -> str:
    return re.sub(r"(?<=\.toml):\d+(:\d+)?", "", str(problem))
