"""A log of refusals on the logger `pegboard.audit`, with a limited number of lines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from time import monotonic
from types import MappingProxyType

from pegboard.types import Caller

logger = logging.getLogger("pegboard.audit")

MAX_LINES = 20
"""The number of refusals of one kind that are logged in a period."""
PERIOD_SECONDS = 60.0
"""The length of a period in seconds."""
MAX_FACT_CHARACTERS = 200
"""The number of characters of a value that are logged."""


class RefusalLog:
    """Logs a limited number of refusals of each kind per minute. The next line states the number of omitted refusals.

    Each refusal is one line of printable ASCII, with the level warning or lower. The attribute `audit` of the log
    record has the same facts.

    Args:
        clock: returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kinds: dict[str, _Period] = {}

    def refused(
        self,
        what: str,
        caller: Caller | None = None,
        facts: Mapping[str, object] = MappingProxyType({}),
        level: int = logging.WARNING,
    ) -> None:
        """Log a refusal.

        Args:
            what: the kind of refusal.
            caller: the caller, if known.
            facts: further facts by name. Use a `fingerprint` for a secret. A fact that is None is not logged.
            level: the log level.
        """
        if not logger.isEnabledFor(level):
            return
        period = self._kinds.setdefault(what, _Period())
        if not period.admits(self._clock()):
            return
        identity: dict[str, object] = {}
        if caller is not None:
            identity = {"subject": caller.subject, "issuer": caller.issuer, "client_id": caller.client_id}
        fields = {**identity, **facts, "left_out": period.left_out or None}
        period.left_out = 0
        logged = {name: value for name, value in fields.items() if value is not None}
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in logged.items())
        about = {"audit": {"refused": what, **logged}, "data": {"refused": what, **logged}}
        logger.log(level, "refused: %s%s", what, shown and f" ({shown})", extra=about)


class _Period:
    """The refusals of one kind in a period.

    Attributes:
        left_out: the number of refusals that were not logged since the last line.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._began: float | None = None
        self._lines = 0

    def admits(self, now: float) -> bool:
        if self._began is None or now - self._began >= PERIOD_SECONDS:
            self._began = now
            self._lines = 0
        if self._lines >= MAX_LINES:
            self.left_out += 1
            return False
        self._lines += 1
        return True


def fingerprint(secret: str) -> str:
    """Return twelve digits that identify a long random secret without revealing it."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _shown(value: object) -> str:
    text = str(value)
    return ascii(text if len(text) <= MAX_FACT_CHARACTERS else f"{text[:MAX_FACT_CHARACTERS]}...")
