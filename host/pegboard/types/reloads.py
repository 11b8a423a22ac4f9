"""The result of a reload."""

from typing import Literal, NamedTuple


class ReloadResult(NamedTuple):
    """The result of a reload for one distribution or file.

    Attributes:
        name: the distribution with its version, or the file.
        outcome: "reloaded", "added" or "removed"; "kept" if the new version is broken and the old one is still served;
            "failed" if the new version is broken and there is no old one; "restart needed" if only a new process can
            apply the change.
        reason: the problem, with its file and line; "" if there is none.
    """

    name: str
    outcome: Literal["reloaded", "added", "removed", "kept", "failed", "restart needed"]
    reason: str = ""

    @property
    def is_applied(self) -> bool:
        """True if the change is served."""
        return self.outcome in ("reloaded", "added", "removed")

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}" + (f": {self.reason}" if self.reason else "")
