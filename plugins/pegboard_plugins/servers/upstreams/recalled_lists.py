"""The remembered or accepted lists of a server while the host runs, served until a connection confirms them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from logging import Logger

from pegboard_plugins.servers.upstreams.remembered_lists import RememberedLists
from pegboard_plugins.servers.upstreams.upstream_lists import ListReader, UpstreamLists


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
