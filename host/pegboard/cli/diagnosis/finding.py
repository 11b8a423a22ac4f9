"""A finding of a check as JSON."""

from __future__ import annotations

from typing import Any

from pegboard.plugin.commands import Finding
from pegboard.terminal.failures import problem_fields


def finding_fields(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON."""
    located = problem_fields(finding.problem or finding.message, finding.message)
    return {"level": finding.level, **located, "fix": finding.fix, "source": finding.source}
