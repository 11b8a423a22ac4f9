"""The configuration file while a command edits it. Comments and order are kept."""

from __future__ import annotations

import os
import re
import tempfile
from argparse import Namespace
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, InlineTable, Item

from pegboard.cli.commands.edited_file import EditedFile, EditedFileError
from pegboard.cli.commands.trust_commands import StateError
from pegboard.config import ConfigProblem, HostConfig, files
from pegboard.config.problems import KeyPath, dotted
from pegboard.config.trust import refuse_untrusted, select_file, settings_of, trust
from pegboard.errors import ConfigError
from pegboard.host import Host
from pegboard.loading.discovery import Selection, choose_plugins, defaults
from pegboard.loading.plugins import LoadProblem, PluginChoice
from pegboard.plugin.origin import Origin
from pegboard.terminal.printing import diverted


class EditedConfig:
    """The configuration file that the host would read. If there is none, it is made in the user's directory.

    Args:
        options: the command line.

    Attributes:
        path: the file.

    Raises:
        ConfigError: the file cannot be read, is not TOML or is not trusted.
        EditedFileError: the file or its folder cannot be written.
    """

    def __init__(self, options: Namespace) -> None:
        self._needs_trust = False
        if selected := select_file(options.config, os.environ, Path.cwd(), refuse_untrusted):
            candidate, content = selected
            parsed = content if isinstance(content, ConfigProblem) else files.parse_file(content, Path.cwd())
            if isinstance(parsed, ConfigProblem):
                raise ConfigError([parsed])
            self.path, self._needs_trust = candidate.path, candidate.needs_trust
        elif folder := files.user_directory(os.environ):
            self.path = folder / files.FILE_NAME
            _make(folder)
        else:
            raise ConfigError(["there is no configuration file and no home directory: name a file with --config"])
        self._file = EditedFile(self.path)
        try:
            self._document = tomlkit.parse(self._file.text.removeprefix("\ufeff"))
        except TOMLKitError as error:
            raise ConfigError([f"{self.path} cannot be changed by this command, edit it by hand: {error}"]) from error

    # --- changes

    def put(self, path: KeyPath, item: Item) -> None:
        """Set a key, and add its tables."""
        self.table(path[:-1])[str(path[-1])] = item

    def append(self, path: KeyPath, text: str) -> None:
        """Add a string to a list."""
        table, key = self.table(path[:-1]), str(path[-1])
        if isinstance(table.get(key), Array):
            table[key].append(text)
        else:
            table[key] = [text]

    def remove(self, path: KeyPath, matches: Callable[[str], bool]) -> None:
        """Remove strings from a list."""
        texts: list[Any] = self.table(path[:-1]).get(str(path[-1])) or []
        for text in [text for text in texts if isinstance(text, str) and matches(text)]:
            texts.remove(text)

    def table(self, path: KeyPath) -> MutableMapping[str, Any]:
        """Return a table, and add it if it is missing.

        Raises:
            ConfigError: another value has the name of the table.
        """
        table: MutableMapping[str, Any] = self._document
        for end, part in enumerate(path, 1):
            if part not in table:
                inline = isinstance(table, InlineTable)
                table[str(part)] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=end < len(path))
            below = table[str(part)]
            if not isinstance(below, MutableMapping):
                raise ConfigError([f"{dotted(path[:end])} is not a table in {self.path}"])
            table = below
        return table

    # --- the result

    def config(self) -> HostConfig:
        """Return the configuration with the changed file. Invalid keys count as unset."""
        return self._config(self._text())

    def choice(self, origin: Origin, origins: Sequence[Origin]) -> PluginChoice:
        """Return whether a plugin is enabled with the changed file."""
        choices = choose_plugins(origins, self.config(), Selection())
        choice = next(choice for choice in choices if choice.origin is origin)
        return choice._replace(reason=self._named(choice.reason))

    def new_problems(self) -> list[ConfigProblem | LoadProblem]:
        """Return the problems that the changes cause."""
        before = set(map(_without_line, self._problems(self._file.text)))
        after = self._problems(self._text())
        return [problem for problem in after if _without_line(problem) not in before]

    def save(self) -> None:
        """Write the file. If it was trusted, it is trusted with the new content.

        Raises:
            EditedFileError: the file cannot be written, or another program has changed it.
            StateError: the trust cannot be renewed.
        """
        self._file.replace(self._text())
        content = files.read_file(files.Candidate(self.path), Path.cwd())
        if self._needs_trust and isinstance(content, files.FileContent):
            try:
                trust(content, settings_of(self._document.unwrap()), os.environ)
            except OSError as error:
                raise StateError(f"the trust in {self.path} cannot be renewed: {error}") from error

    def _text(self) -> str:
        """Return the changed text.

        Raises:
            ConfigError: the text would have another meaning than the changes.
        """
        text = tomlkit.dumps(self._document)
        if tomlkit.parse(text).unwrap() != self._document.unwrap():
            raise ConfigError([f"{self.path} cannot be changed by this command: edit it by hand"])
        return text

    def _problems(self, text: str) -> list[ConfigProblem | LoadProblem]:
        config = self._config(text)
        host = Host(config)
        with diverted():
            host.load()
        errors = [problem for problem in host.problems if problem.level == "error"]
        return [*map(self._in_file, config.problems), *map(self._of_plugin, errors)]

    def _config(self, text: str) -> HostConfig:
        """Load a file with this text beside the real file, because relative paths start from its folder."""
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=_SUFFIX)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            return HostConfig.load(Path(name), environ=os.environ, defaults=defaults(), collect=True)
        finally:
            os.unlink(name)

    def _in_file(self, problem: ConfigProblem) -> ConfigProblem:
        return problem._replace(file=problem.file and self._named(problem.file))

    def _of_plugin(self, problem: LoadProblem) -> LoadProblem:
        cause = problem.cause and self._in_file(problem.cause)
        return problem._replace(message=self._named(problem.message), cause=cause)

    def _named(self, text: str) -> str:
        """Return a text with the name of the real file."""
        return re.sub(rf"[.]\w+{re.escape(_SUFFIX)}", self.path.name, text)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "name another file with --config"
        raise EditedFileError(f"the folder {folder} cannot be created: {error.strerror}; {fix}") from None


_SUFFIX = ".edited.toml"


def _without_line(problem: ConfigProblem | LoadProblem) -> str:
    return re.sub(r"(?<=\.toml):\d+(:\d+)?", "", str(problem))
