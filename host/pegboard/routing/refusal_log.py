"""What an operator may have to find out later: who was refused what. Lines on the logger `pegboard.audit`, never many.

It decides nothing, and tells nobody but the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import monotonic

from pegboard.types.callers import EMPTY, Caller

logger = logging.getLogger("pegboard.audit")

MAX_LINES = 20
"""How many refusals of one kind are told in a period."""
PERIOD_SECONDS = 60.0
"""How long a period is."""
MAX_FACT_CHARACTERS = 200
"""How many characters of a value are told."""


class RefusalLog:
    """Tells refusals, a few of each kind in a minute; how many it has left out is told with the next that it tells.

    Each line is a warning or less severe, in one line of printable ASCII, and has the same as `audit` in its record.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kinds: dict[str, _Period] = {}

    def refused(
        self,
        what: str,
        caller: Caller | None = None,
        facts: Mapping[str, object] = EMPTY,
        level: int = logging.WARNING,
    ) -> None:
        """Tell of one.

        Args:
            what: what was refused, the same text for all of its kind.
            caller: who was, as far as they are known.
            facts: what else is known, by name; never a secret, but its `fingerprint`. None is not told.
            level: how severe it is.
        """
        if not logger.isEnabledFor(level):
            return
        period = self._kinds.setdefault(what, _Period())
        if not period.admits(self._clock()):
            return
        known: dict[str, object] = {} if caller is None else _of(caller)
        given = {**known, **facts, "left_out": period.left_out or None}
        period.left_out = 0
        told = {name: value for name, value in given.items() if value is not None}
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in told.items())
        about = {"audit": {"refused": what, **told}, "data": {"refused": what, **told}}
        logger.log(level, "refused: %s%s", what, shown and f" ({shown})", extra=about)


class _Period:
    """How many were told since when.

    Attributes:
        left_out: how many were not told, since the last that was.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._began: float | None = None
        self._told = 0

    def admits(self, now: float) -> bool:
        if self._began is None or now - self._began >= PERIOD_SECONDS:
            self._began, self._told = now, 0
        if self._told >= MAX_LINES:
            self.left_out += 1
            return False
        self._told += 1
        return True


def fingerprint(secret: str) -> str:
    """Twelve digits by which one secret is told from another, and of which none can be made: for long, random ones."""
    from hashlib import sha256

    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _of(caller: Caller) -> dict[str, object]:
    return {"subject": caller.subject, "issuer": caller.issuer, "client_id": caller.client_id}


def _shown(value: object) -> str:
    text = str(value)
    return ascii(text if len(text) <= MAX_FACT_CHARACTERS else f"{text[:MAX_FACT_CHARACTERS]}...")
