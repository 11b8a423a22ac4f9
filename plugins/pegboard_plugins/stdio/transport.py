"""The transport itself: takes the descriptors, serves one connection, gives the descriptors back."""

from __future__ import annotations

from pegboard import TransportHost
from pegboard_plugins.stdio.running import RunningTools


class StdioTransport:
    """Standard input and output as one connection, ended by the end of input.

    While it runs, tools read nothing from standard input, and what they print is logged instead of reaching the client.
    """

    name = "stdio"

    def __init__(self, running: RunningTools, max_message_bytes: int) -> None:
        self._running = running
        self._max_message_bytes = max_message_bytes

    async def run(self, host: TransportHost) -> None:
        """Serve the client until it closes standard input, or its end of standard output.

        Raises:
            TransportError: a standard stream is closed, or another host of this process uses them.
        """
        from pegboard_plugins.stdio.incoming import open_incoming
        from pegboard_plugins.stdio.outgoing import Outbox
        from pegboard_plugins.stdio.takeover import taken_over

        with taken_over(self._running) as (incoming, outgoing):
            outbox = Outbox(outgoing)
            messages = open_incoming(incoming, outbox, self._max_message_bytes)
            try:
                await host.serve(outbox, messages)
            finally:
                messages.close()
                await outbox.close()
