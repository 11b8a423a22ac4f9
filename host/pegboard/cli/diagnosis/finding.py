"""The result of one check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pegboard.cli.command_failures import problem_fields
from pegboard.records import NamedTuple

FindingLevel = Literal["error", "warning"]


class Finding(NamedTuple):
    """A problem that a check has found.

    Attributes:
        level: "error" if something that is enabled cannot work, "warning" otherwise.
        message: the problem.
        fix: advice for the operator, or "" if the message has it.
        source: the documentation of the rule, or "" if the rule is pegboard's own.
        problem: the record with the problem's file, line and key, if any.
        repair: fixes the problem, for `--fix`; None if only the operator can. It returns what it has done.
    """

    level: FindingLevel
    message: str
    fix: str = ""
    source: str = ""
    problem: object = None
    repair: Callable[[], str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        located = problem_fields(self.problem or self.message, self.message)
        return {"level": self.level, **located, "fix": self.fix, "source": self.source}
