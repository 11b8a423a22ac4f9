"""The stdio transport: redirects the descriptors, serves one connection, and restores the descriptors."""

from __future__ import annotations

import logging

from pegboard.plugin import Transport, TransportContext, TransportError
from pegboard.types import LOCAL
from pegboard_plugins.transports.stdio.running_tools import RunningTools

logger = logging.getLogger("pegboard.stdio")


class StdioTransport(Transport):
    """A transport with standard input and output as its only connection, until the end of input.

    While it runs, tools read nothing from standard input, and their printed output is logged.
    """

    name = "stdio"

    def __init__(self, running: RunningTools, max_message_bytes: int, *, finishes: bool = False) -> None:
        self._running = running
        self._max_message_bytes = max_message_bytes
        self._finishes = finishes

    async def run(self, host: TransportContext) -> None:
        """Serve the client until it closes standard input, or its end of standard output.

        Raises:
            TransportError: a standard stream is closed, another host of this process uses them, or calls were dropped
                at the end of input that all arrived before the first response. A client that has read responses may end
                in this way, so that is only logged.
        """
        from pegboard_plugins.transports.stdio.message_reader import open_reader
        from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection
        from pegboard_plugins.transports.stdio.stdio_redirect import redirect_stdio

        with redirect_stdio(self._running, host.standard_output) as (incoming, outgoing):
            connection = StdioConnection(outgoing, self._running, finishes=self._finishes)
            messages = open_reader(incoming, connection, self._max_message_bytes)
            try:
                # the program that started this program owns the pipe
                dropped = await host.serve(connection, messages, caller=LOCAL) + messages.left
            finally:
                messages.close()
                connection.end()
        if dropped or connection.unread:
            message = _dropped(dropped, connection.unread)
            if not messages.is_conversation:
                raise TransportError(message, final=True)
            logger.warning("%s", message)


def _dropped(calls: int, unread: int) -> str:
    """Return the message about dropped calls and how to finish them."""
    counted = f"{calls} {'call' if calls == 1 else 'calls'}" if calls else f"{unread} bytes of responses"
    return (
        f"the input ended, which dropped {counted} in flight; to finish calls first, run "
        'pegboard stdio --finish, or set after_eof = "finish" in [plugins.stdio]'
    )
