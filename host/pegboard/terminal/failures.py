"""Failures and problems as JSON. Every command prints this form."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12


class ProblemFields(TypedDict):
    """A problem: its message and its location. `place` is the source of a value that is not in a file."""

    message: str
    file: str | None
    line: int | None
    column: int | None
    key: str | None
    place: str | None
    suggestion: str | None


def failure_fields(
    message: str, exit_code: int, kind: str = "FAILED", problems: list[ProblemFields] | None = None, **details: Any
) -> dict[str, Any]:
    """Return the JSON of a failure.

    Args:
        message: all problems, one per line.
        exit_code: the exit code.
        kind: the kind of failure, for programs.
        problems: the problems; by default only the message.
        **details: more members of the error.
    """
    fields = problems or [problem_fields(message)]
    return {"error": {"kind": kind, "message": message, "exit_code": exit_code, "problems": fields, **details}}


def problem_fields(problem: object, message: str | None = None) -> ProblemFields:
    """Return a problem as JSON: its message, file, line, column, key, other place, and the nearest valid name.

    Args:
        problem: a `ConfigProblem`, a `LoadProblem`, another record with some of these fields, or a string.
        message: the message; by default that of the problem.
    """
    origin = getattr(problem, "cause", None) or problem
    return {
        "message": message or str(getattr(origin, "message", origin)),
        "file": getattr(origin, "file", None),
        "line": getattr(origin, "line", None),
        "column": getattr(origin, "column", None),
        "key": getattr(origin, "key", None) or None,
        "place": getattr(origin, "place", None),
        "suggestion": getattr(origin, "suggestion", None),
    }
