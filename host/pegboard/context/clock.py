"""What a question of a call does to the time that its function may take. It measures nothing."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """How long one function may still run."""

    def fail(self, error: BaseException) -> None:
        """End the function with an exception."""
        ...

    def pause(self) -> None:
        """Let the time stand still."""
        ...

    def resume(self) -> None:
        """Let the time run on."""
        ...
