"""Reports of missing secrets. Commands that a user runs report each only once; servers report it at every start.

The state directory keeps the reports. Without a writable state directory, every command reports them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator

from pegboard.config.state import read_state, write_state
from pegboard.loading.plugins import NEEDS_SETTING, LoadProblem
from pegboard.wire.codec import decode, encode

REPORTS_FILE = "missing-secrets.json"
MAX_REPORTS = 512
"""The maximum number of recorded reports. The oldest are removed first."""


def new_reports(problems: Iterable[LoadProblem]) -> Iterator[LoadProblem]:
    """Yield the problems without reports of missing secrets that an earlier command has printed."""
    for problem in problems:
        if problem.stage != NEEDS_SETTING or problem.fatal or _is_new(str(problem)):
            yield problem


class NewReports(logging.Filter):
    """A filter of log records that drops reports of missing secrets that an earlier command has printed."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if a record is logged."""
        problem = record.args[0] if isinstance(record.args, tuple) and record.args else None
        return not isinstance(problem, LoadProblem) or bool([*new_reports([problem])])


def _is_new(report: str) -> bool:
    """Record a report, and return False if it was recorded already."""
    try:
        try:
            known = decode(read_state(REPORTS_FILE, os.environ) or b"[]")
        except ValueError:
            known = []
        known = known if isinstance(known, list) else []
        if report in known:
            return False
        write_state(REPORTS_FILE, encode([*known, report][-MAX_REPORTS:]), os.environ)
    except OSError as error:
        logging.getLogger("pegboard").debug("reports of missing secrets are not recorded: %s", error)
    return True
