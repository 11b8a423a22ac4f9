"""Long work, as those who wait for it see it: whether they still wait, how far it has come, when to stop."""

from collections.abc import Callable
from time import monotonic

from toolkit_files.problems import Cancelled

__all__ = ["Watch"]

LOOK_EVERY = 256
TELL_EVERY = 4096


def _tell_nobody(steps: int, files: int) -> None:
    """Ignore a report."""


class Watch:
    """Counts steps (an entry, a line) and files, reports progress, and checks the time limit.

    Attributes:
        files: the number of searched files.
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
        """Start the time. `report` receives the number of steps and files."""
        self._cancelled = cancelled
        self._report = report
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._steps = 0
        self.files = 0
        self.late = False

    def step(self) -> None:
        """Count a step. Raises Cancelled if the call was cancelled."""
        self._steps += 1
        if self._steps % LOOK_EVERY == 0:
            self.check()
            if self._steps % TELL_EVERY == 0:
                self._report(self._steps, self.files)

    def file_done(self) -> None:
        """Count a searched file. Raises Cancelled if the call was cancelled."""
        self._steps += 1
        self.files += 1
        self.check()
        if self.files % LOOK_EVERY == 0:
            self._report(self._steps, self.files)

    def check(self) -> None:
        """Check now: set `late`. Raises Cancelled if the call was cancelled."""
        if self._cancelled():
            raise Cancelled
        self.late = self._end is not None and self._clock() > self._end
