"""The last lists of a mounted server, in the state directory. The next start of the host serves them at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

from pegboard.plugin import StateFiles, decode, encode
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS, ListReader, UpstreamLists

FORMAT = 1
"""The version of the format of the file."""
SECONDS_OF_DAY = 86_400.0
RENEWED_SECONDS = 3_600.0
"""The same lists are written again after this time, so that the file shows when the server was connected."""
_DIGEST_CHARACTERS = 16


class RememberedLists:
    """The file with the lists of one server. It is used only while the server's section and program are the same.

    Args:
        name: the name of the section.
        config: the section.
        folder: the working directory of a program without `cwd`.
        forget_days: the time after the last connection at which the lists no longer count.
    """

    def __init__(self, name: str, config: ServerConfig, folder: Path, forget_days: float) -> None:
        self._config = config
        self._folder = folder
        self._forget_seconds = forget_days * SECONDS_OF_DAY
        self._files = StateFiles(os.environ)
        place = sha256(str(folder.absolute()).encode("utf-8", "surrogateescape")).hexdigest()
        self._file = f"upstream-{name}-{place[:_DIGEST_CHARACTERS]}.json"
        self._written: tuple[float, UpstreamLists] | None = None

    def read(self, reader: ListReader) -> UpstreamLists | None:
        """Return the lists; None without a usable file.

        A file that is damaged, that belongs to another section or program, or that other users can read or change, is
        not usable.

        Args:
            reader: checks the items, as it checks those of a connection.
        """
        try:
            stored = decode(self._files.read(self._file) or b"null")
            if stored["format"] != FORMAT or stored["key"] != self._key():
                return None
            if abs(time() - stored["connected"]) > self._forget_seconds:
                return None
            return reader.taken({kind: list(stored["lists"][kind]) for kind in ALL_KINDS})
        except (OSError, ValueError, TypeError, LookupError):
            return None

    def write(self, lists: UpstreamLists) -> None:
        """Remember lists of a connection, unless they were written a short time ago.

        Raises:
            OSError: the file cannot be written.
        """
        now = time()
        if self._written is not None and self._written[1] == lists and now - self._written[0] < RENEWED_SECONDS:
            return
        items = {kind: list(items.values()) for kind, items in lists._asdict().items()}
        self._files.write(self._file, encode({"format": FORMAT, "key": self._key(), "connected": now, "lists": items}))
        self._written = now, lists

    def _key(self) -> str:
        """Return the digest of all that decides what the server lists, without secrets."""
        section: dict[str, Any] = self._config.model_dump(mode="json", exclude={"object", "env", "headers"})
        names: Mapping[str, Any] = {"env": sorted(self._config.env), "headers": sorted(self._config.headers)}
        about = {**section, **names, "folder": str(self._folder), "program": _program(self._config.command)}
        return sha256(encode(dict(sorted(about.items())))).hexdigest()


def _program(command: str | None) -> list[Any] | None:
    """Return the path of a program, and the path, the size and the time of the file that its links lead to.

    Raises:
        OSError: the program does not exist.
    """
    if command is None:
        return None
    path = shutil.which(command)
    if path is None:
        raise FileNotFoundError(f"the command {command!r} is not on PATH")
    status = os.stat(path)
    return [path, os.path.realpath(path), status.st_size, status.st_mtime_ns]
