"""The entries in the file of a client: listed, set and removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pegboard_plugins.authoring.configure import jsonc_edit, toml_edit
from pegboard_plugins.authoring.configure.clients import McpClient
from pegboard_plugins.support.edited_file import EditedFileError, read_edited_file


class EntryFile:
    """The file of a client.

    Args:
        client: the client.
        path: the file.

    Raises:
        EditedFileError: the file cannot be read or understood.
    """

    def __init__(self, client: McpClient, path: Path) -> None:
        self.client = client
        self.file = read_edited_file(path)
        self._is_toml = path.suffix == ".toml"
        with self._naming_file():
            self.entries = self._read(self.text)

    @property
    def text(self) -> str:
        """The content, or "" if the file does not exist."""
        return self.file.text or ""

    def with_entry(self, name: str, entry: Mapping[str, Any]) -> str:
        """Return the text with an entry.

        Raises:
            EditedFileError: the file has the entry in a form that cannot be changed.
        """
        with self._naming_file():
            text = self._changed(self.text, name, entry)
            return text if self._is_toml else self._checked(text, name, entry)

    def lines(self, name: str, entry: Mapping[str, Any]) -> list[str]:
        """Return the lines of an entry in this file, without indentation."""
        if self._is_toml:
            return toml_edit.table_lines(self._path(name), entry)
        return f'"{name}": {jsonc_edit.formatted(entry, "", "  ", chr(10), own_line=True)}'.splitlines()

    def without_entry(self, name: str) -> str | None:
        """Return the text without an entry: the text of the backup, if the entry is the only change since.

        None means that the file did not exist before the entry.

        Raises:
            EditedFileError: the file has the entry in a form that cannot be changed.
        """
        backup = read_edited_file(self.file.backup).text
        if backup is not None and self._restores(backup, name):
            return backup
        if (backup is None or self._has(backup, name)) and self._restores("", name):
            return None
        with self._naming_file():
            if self._is_toml:
                return toml_edit.delete_toml(self.text, self._path(name))
            return self._checked(jsonc_edit.delete_jsonc(self.text, self._path(name)), name, None)

    def _restores(self, text: str, name: str) -> bool:
        """Return True if the file equals this text with the entry added."""
        entry = self.entries[name]
        if not isinstance(entry, dict) or self._has(text, name):
            return False
        try:
            return self._changed(text, name, entry) == self.file.text
        except EditedFileError:
            return False

    def _has(self, text: str, name: str) -> bool:
        try:
            return name in self._read(text)
        except EditedFileError:
            return False

    def _changed(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        if self._is_toml:
            return toml_edit.set_toml(text, self._path(name), entry)
        old = jsonc_edit.read_jsonc(text, self._path()).get(name)
        if not isinstance(old, dict):
            return jsonc_edit.set_jsonc(text, self._path(name), dict(entry))
        for key in [key for key in old if key not in entry]:
            text = jsonc_edit.delete_jsonc(text, self._path(name, key))
        for key, value in entry.items():
            text = jsonc_edit.set_jsonc(text, self._path(name, key), value)
        return text

    def _checked(self, text: str, name: str, entry: Mapping[str, Any] | None) -> str:
        """Return a changed text, after checking that only this entry has changed."""
        expected = jsonc_edit.read_jsonc(self.text, ())
        servers = {**expected.get(self.client.servers, {}), name: entry}
        if entry is None:
            del servers[name]
        if jsonc_edit.read_jsonc(text, ()) != {**expected, self.client.servers: servers}:
            raise EditedFileError(f"its entry {name} cannot be changed safely: change it by hand")
        return text

    def _read(self, text: str) -> dict[str, Any]:
        return (toml_edit.read_toml if self._is_toml else jsonc_edit.read_jsonc)(text, self._path())

    def _path(self, *names: str) -> Sequence[str]:
        return (self.client.servers, *names)

    @contextmanager
    def _naming_file(self) -> Iterator[None]:
        """Add the file and the next step to the message of an error."""
        try:
            yield
        except EditedFileError as error:
            message = f"{self.file.path}: {error}; correct the file or name another with --path. The file is unchanged."
            raise EditedFileError(message) from None


def files_of(client: McpClient) -> Iterator[tuple[str, Path, Mapping[str, Any], str]]:
    """Yield each file of a client that exists: a label, the path, the entries, and the problem, or ""."""
    user, project = client.user_file(), Path.cwd() / client.project_file
    places = {client.name: user} if user else {}
    if client.project_file and project != user:
        places[f"{client.name} (project)"] = project
    for label, path in places.items():
        if path.is_file():
            try:
                entries, problem = EntryFile(client, path).entries, ""
            except EditedFileError as error:
                entries, problem = {}, str(error)
            yield label, path, entries, problem
