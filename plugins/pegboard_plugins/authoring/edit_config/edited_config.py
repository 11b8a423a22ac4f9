"""The configuration file while a command edits it. Comments and order are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, InlineTable, Item

from pegboard import Host
from pegboard.errors import ConfigError
from pegboard.plugin import CommandContext
from pegboard.terminal import toml_key
from pegboard_plugins.support.edited_file import EditedFileError, check_writable, read_edited_file, replace


class EditedConfig:
    """The configuration file that the host would read. If there is none, it is made in the user's directory.

    Args:
        command: the command.

    Attributes:
        path: the file.

    Raises:
        ConfigError: the file cannot be read, is not TOML or is not trusted.
        EditedFileError: the file or its folder cannot be written.
    """

    def __init__(self, command: CommandContext) -> None:
        self._target = command.config_file()
        self._hosts: dict[str, Host] = {}  # by the text of the file
        self.path = Path(self._target.path)
        _make(self.path.parent)
        self._file = read_edited_file(self.path, "--config")
        check_writable(self._file)
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
                raise ConfigError([f"{'.'.join(map(toml_key, path[:end]))} is not a table in {self.path}"])
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
        """Write the file. If it was trusted, it is trusted with the new content.

        Raises:
            EditedFileError: the file cannot be written, or another program has changed it.
            MCPError: the trust cannot be renewed.
        """
        text = self._text()
        replace(self._file, text)
        self._target.keep_trust(text)

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
        fix = "name another file with --config"
        raise EditedFileError(f"the folder {folder} cannot be created: {error.strerror}; {fix}") from None


def _problems(host: Host) -> list[Any]:
    """Return the problems of the configuration, and the errors of plugins."""
    return [*host.config.problems, *(problem for problem in host.problems if problem.level == "error")]


def _without_line(problem: object) -> str:
    return re.sub(r"(?<=\.toml):\d+(:\d+)?", "", str(problem))
