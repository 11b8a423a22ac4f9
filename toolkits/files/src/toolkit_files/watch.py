"""Progress, cancellation and time limit of long calls."""

from collections.abc import Callable
from time import monotonic

from toolkit_files.problems import Cancelled

__all__ = ["Watch"]

LOOK_EVERY = 256
TELL_EVERY = 4096


def _tell_nobody(steps: int, files: int) -> None:
    """Ignore a report."""


class Watch:
    """A counter of steps (entries, lines) and files that reports progress and checks the time limit.

    Attributes:
        files: the number of searched files.
        late: True if the time limit is exceeded.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        report: Callable[[int, int], None] = _tell_nobody,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start the timer. `report` is called with the numbers of steps and files."""
        self._cancelled = cancelled
        self._report = report
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._steps = 0
        self.files = 0
        self.late = False

    def step(self) -> None:
        """Count a step. Raise Cancelled if the call was cancelled."""
        self._steps += 1
        if self._steps % LOOK_EVERY == 0:
            self.check()
            if self._steps % TELL_EVERY == 0:
                self._report(self._steps, self.files)

    def file_done(self) -> None:
        """Count a searched file. Raise Cancelled if the call was cancelled."""
        self._steps += 1
        self.files += 1
        self.check()
        if self.files % LOOK_EVERY == 0:
            self._report(self._steps, self.files)

    def check(self) -> None:
        """Check the time limit now and set `late`. Raise Cancelled if the call was cancelled."""
        if self._cancelled():
            raise Cancelled
        self.late = self._end is not None and self._clock() > self._end
