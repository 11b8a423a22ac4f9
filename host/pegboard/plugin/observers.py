"""The contracts for telemetry: observers of a host, and the gauges that they read."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pegboard.types.callers import ANONYMOUS, UNKNOWN_CLIENT, Caller, Client


class Gauge(NamedTuple):
    """A value of the present state, such as the number of open connections. Construct it by keyword.

    Attributes:
        name: the name in snake case, such as "http_streams". Telemetry adds the prefix "pegboard".
        description: one sentence.
        read: a function that returns a mapping from values of the label to numbers, or `{"": number}` without a label.
            It must be fast, and may be called in any thread.
        label: the name of the label, such as "server"; "" without one.
    """

    name: str
    description: str
    read: Callable[[], Mapping[str, float]]
    label: str = ""


class SessionInfo(NamedTuple):
    """A session of a client with the host, from the handshake to its end. Construct it by keyword.

    Attributes:
        id: the session id; None if the session is a connection.
        client: the client program, with the protocol revision.
        caller: the caller.
        transport: the transport, as in `Call.transport`.
    """

    id: str | None
    client: Client = UNKNOWN_CLIENT
    caller: Caller = ANONYMOUS
    transport: str = ""


class Observer:
    """The base class of observers. The host calls them for telemetry; they change nothing.

    To observe calls, write a `Middleware`.

    The methods run on the event loop and must not block. If one raises, the host logs it.
    """

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        """Receive all gauges when the host has started. A gauge that fails has no values."""

    def session_started(self, session: SessionInfo) -> None:
        """Observe the start of a session. Requests of 2026-07-28 belong to no session."""

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        """Observe the end of a session. The client, the expiry of the session or the stop of the host ends it.

        Args:
            session: the session, as in `session_started`.
            seconds: the duration of the session.
        """
