"""The values that a toolkit keeps in a session."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from pegboard.errors import InteractionError
from pegboard.wire.codec import decode, encode, is_finite

if TYPE_CHECKING:
    from pegboard.types.calls import SessionState

MAX_SESSION_KEYS = 100
"""The largest number of keys of one toolkit in one session."""

MAX_SESSION_DATA_BYTES = 64 * 1024
"""The size limit of the keys and values of one toolkit in one session, in bytes of JSON."""

_NO_SESSION = (
    "This tool keeps data in a session. This call has none: MCP 2026-07-28 and the worker protocol have no sessions, "
    "and sealed sessions keep nothing. "
    "Keep the data in a store of the toolkit by `context.user_id`, or return it and take it as an argument later."
)
_CHANGE = Lock()
"""Held while the values of a session change. Functions in threads may change them at the same time."""


class SessionData:
    """JSON values that last as long as the session. Each toolkit has its own, and other sessions do not see them.

    Args:
        session: the session.
        owner: the name of the toolkit or plugin.

    Raises:
        InteractionError: there is no session.
    """

    def __init__(self, session: SessionState | None, owner: str) -> None:
        if session is None:
            raise InteractionError(_NO_SESSION)
        self._session = session
        self._owner = owner

    def get(self, key: str, default: Any = None) -> Any:
        """Return a copy of the value of a key, or the default."""
        text = self._session.data.get(f"{self._owner}/{key}")
        return default if text is None else decode(text.encode())

    def set(self, key: str, value: Any) -> None:
        """Set the value of a key. The value is stored with the session before the response is sent, even an error.

        Raises:
            InteractionError: the value is not JSON, or the toolkit exceeds `MAX_SESSION_KEYS` or
                `MAX_SESSION_DATA_BYTES`.
        """
        if not isinstance(key, str):
            raise _unkept(f"the key {key!r} must be a string")
        try:
            if not is_finite(value):
                raise TypeError("JSON cannot express NaN and infinities")
            text = encode(value).decode()
            if decode(text.encode()) != value:  # `encode` converts dates, tuples, models and names that are numbers
                raise TypeError("use strings, numbers, booleans, None, lists, and dicts with strings as keys")
        except (TypeError, ValueError) as error:
            raise _unkept(f"the value of {key!r} is not JSON: {error}") from error
        with _CHANGE:
            data = {**self._session.data, f"{self._owner}/{key}": text}
            own = [(name, stored) for name, stored in data.items() if name.startswith(f"{self._owner}/")]
            if len(own) > MAX_SESSION_KEYS:
                raise _unkept(f"the key {key!r} exceeds the limit of {MAX_SESSION_KEYS} keys: delete some")
            if sum(len(name.encode()) + len(stored.encode()) for name, stored in own) > MAX_SESSION_DATA_BYTES:
                raise _unkept(f"the value of {key!r} exceeds the limit of {MAX_SESSION_DATA_BYTES} bytes: delete some")
            self._session.change(f"{self._owner}/{key}", text)

    def delete(self, key: str) -> None:
        """Delete a key. Do nothing if it is unknown."""
        name = f"{self._owner}/{key}"
        if name in self._session.data:
            self._session.change(name, None)


def _unkept(why: str) -> InteractionError:
    return InteractionError("The session cannot keep the data of this tool.", f"context.session: {why}")
