"""The lists of a server before a connection confirms them: remembered lists, or those that the operator accepted."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from logging import Logger
from pathlib import Path
from time import time
from typing import Any

from pegboard.plugin import StateFiles, decode, encode
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS, ListReader, UpstreamLists
from pegboard_plugins.support.catalogue_lock import LockFileError
from pegboard_plugins.support.lock_files import read_lock

FORMAT = 1
"""The version of the format of the file."""
SECONDS_OF_DAY = 86_400.0
RENEWED_SECONDS = 3_600.0
"""The same lists are written again after this time, so that the file shows when the server was connected."""
_DIGEST_CHARACTERS = 16
_CHANGED_NAME = re.compile("_[0-9a-f]{8}$")
"""The end of a name that may have other characters at the server, see `wire_form`."""


class RecalledLists:
    """The lists that a server had at its last connection, or else those that the operator has accepted.

    Args:
        name: the name of the server.
        file: the file of the lists; None to remember nothing.
        accepted: returns the accepted lists, or None.
        reader: checks the items of the file.
        publish: serves the lists. Its second argument is True for accepted lists.
        forget: stops serving them.
        logger: the log of the plugin.

    Attributes:
        are_served: True if the lists of a connection or accepted lists are served, or if no connection for all
            callers confirms them.
    """

    def __init__(
        self,
        name: str,
        file: RememberedLists | None,
        accepted: Callable[[ListReader], UpstreamLists | None],
        reader: ListReader,
        publish: Callable[[UpstreamLists, bool], Awaitable[None]],
        forget: Callable[[], Awaitable[None]],
        logger: Logger,
    ) -> None:
        self.are_served = False
        self._is_confirmed = False
        self._name = name
        self._file = file
        self._accepted = accepted
        self._reader = reader
        self._publish = publish
        self._forget = forget
        self._logger = logger
        self._recalling: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None

    def recall(self) -> None:
        """Serve the lists in the background, if there are any."""
        self._recalling = asyncio.get_running_loop().create_task(self._recall())

    async def _recall(self) -> None:
        remembered = None if self._file is None else await asyncio.to_thread(self._file.read, self._reader)
        lists = await asyncio.to_thread(self._accepted, self._reader) if remembered is None else remembered
        if lists is not None:
            await self._publish(lists, remembered is None)
            self.are_served = True

    @property
    def is_unconfirmed(self) -> bool:
        """True if no connection of this host has confirmed the served lists."""
        return self.are_served and not self._is_confirmed

    @property
    def is_recalling(self) -> bool:
        """True while the file is read and its lists are not served yet."""
        return self._recalling is not None and not self._recalling.done()

    async def wait(self) -> bool:
        """Wait until the lists of the file are served. Return False if they are already."""
        if self._recalling is None or self._recalling.done():
            return False
        await asyncio.wait((self._recalling,))
        return True

    def confirm(self, lists: UpstreamLists | None) -> None:
        """Note that a connection of this host has listed its items, and remember them.

        Args:
            lists: the lists; None if some are missing.
        """
        self.are_served = self._is_confirmed = True
        if lists is not None:
            self._writing = asyncio.get_running_loop().create_task(self.remember(lists, self._writing))

    async def remember(self, lists: UpstreamLists, after: asyncio.Task[None] | None = None) -> None:
        """Remember lists for the next start of the host. A failure is logged.

        Args:
            lists: the lists.
            after: the task that remembers earlier lists.
        """
        if after is not None:
            await after
        if self._file is not None:
            try:
                await asyncio.to_thread(self._file.write, lists)
            except OSError as error:
                self._logger.info("%s: its definitions cannot be remembered: %s", self._name, error)

    async def drop(self) -> None:
        """Stop serving the lists, because they are not those of the server now."""
        self.are_served = self._is_confirmed = False
        await self._forget()

    async def stop(self) -> None:
        """Stop recalling. Lists that are served stay."""
        if self._recalling is not None:
            self._recalling.cancel()
            await asyncio.wait((self._recalling,))

    async def close(self, lists: UpstreamLists | None) -> None:
        """Write what is left to remember.

        Args:
            lists: the lists of a connection that is open until now, whose time counts; None if there is none.
        """
        if lists is not None:
            await self.remember(lists, self._writing)
        elif self._writing is not None:
            await self._writing


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


def accepted_lists(
    owner: str, server: str, config: ServerConfig, folder: str | None, reader: ListReader
) -> UpstreamLists | None:
    """Return the accepted definitions of a server, or None if there are none.

    Definitions whose names at the server are not known are left out.

    Args:
        owner: the owner of the definitions in the lock.
        server: the name of the server.
        config: its settings.
        folder: the directory of the configuration file; None without one.
        reader: checks the items, as it checks those of a connection.
    """
    try:
        locked = read_lock(folder).owners.get(owner)
    except LockFileError:
        return None  # a host that needs the lock does not start without it
    if locked is None:
        return None
    tools, prompts = (
        [{**item.definition, "name": own} for shown, item in items.items() if (own := _own_name(server, config, shown))]
        for items in (locked.tools, locked.prompts)
    )
    resources = [item.definition for item in locked.resources.values()]
    lists = reader.taken({"tools": tools, "resources": resources, "templates": resources, "prompts": prompts})
    return lists if any(lists) else None


def _own_name(server: str, config: ServerConfig, shown: str) -> str | None:
    """Return the server's own name of a tool or prompt, or None if the name on the wire does not show it."""
    if _CHANGED_NAME.search(shown):
        return None
    renamed = [own for own, name in config.rename.items() if name == shown]
    own = renamed[0] if renamed else shown.removeprefix(config.shown_name(server, ""))
    return own if config.shown_name(server, own) == shown else None
