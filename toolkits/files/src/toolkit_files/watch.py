"""Long work, as those who wait for it see it: whether they still wait, how far it has come, when to stop."""

from collections.abc import Callable
from time import monotonic

from toolkit_files.problems import Cancelled

__all__ = ["Watch"]

LOOK_EVERY = 256
TELL_EVERY = 4096


def _tell_nobody(steps: int, files: int) -> None:
    """Take a report that nobody asked for."""


class Watch:
    """Counts small steps (an entry, a line) and files; now and then looks up, reports, and says when the time is over.

    Attributes:
        files: how many files were searched.
        late: the time is over.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        report: Callable[[int, int], None] = _tell_nobody,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Begin now; `report` is told the steps and the files so far."""
        self._cancelled = cancelled
        self._report = report
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._steps = 0
        self.files = 0
        self.late = False

    def step(self) -> None:
        """Count a step; raises Cancelled when nobody waits any more."""
        self._steps += 1
        if self._steps % LOOK_EVERY == 0:
            self.check()
            if self._steps % TELL_EVERY == 0:
                self._report(self._steps, self.files)

    def file_done(self) -> None:
        """Count a file that was searched; raises Cancelled when nobody waits any more."""
        self._steps += 1
        self.files += 1
        self.check()
        if self.files % LOOK_EVERY == 0:
            self._report(self._steps, self.files)

    def check(self) -> None:
        """Look up now: sets `late`; raises Cancelled when nobody waits any more."""
        if self._cancelled():
            raise Cancelled
        self.late = self._end is not None and self._clock() > self._end
