"""Failures of commands: their exit codes, and their output as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pegboard.cli import CANNOT_OPEN, CANNOT_START, FAILED, USAGE
from pegboard.errors import ConfigError, MCPError, PluginError, ProtocolError, TransportError
from pegboard.terminal.printing import print_json, say
from pegboard.terminal.usage_error import UsageError

if TYPE_CHECKING:
    from pegboard.cli.output.json_records import ProblemFields


def report_error(error: MCPError, *, as_json: bool = False) -> int:
    """Report an error on stderr, or as JSON on stdout. Return the exit code for it."""
    code = code_for(error)
    if as_json:
        of_server = {"code": error.code, "data": error.data} if isinstance(error, ProtocolError) else {}
        print_json(failure(str(error), code, _kind(code), [*_problems(error)], **of_server))
        return code
    for line in str(error).splitlines():
        say(line, level=40)
    if isinstance(error, UsageError) and error.program:
        say(f"see `{error.program} --help`", level=40)
    return code


def code_for(error: MCPError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, UsageError):
        return USAGE
    if isinstance(error, ConfigError | PluginError):
        return CANNOT_START
    return CANNOT_OPEN if isinstance(error, TransportError) and not error.final else FAILED


def failure(
    message: str, exit_code: int, kind: str = "FAILED", problems: list[ProblemFields] | None = None, **details: Any
) -> dict[str, Any]:
    """Return the JSON of a failure. Every command prints this form.

    Args:
        message: all problems, one per line.
        exit_code: the exit code.
        kind: the kind of failure, for programs.
        problems: the problems; by default only the message.
        **details: more members of the error.
    """
    found = problems or [problem_fields(message)]
    return {"error": {"kind": kind, "message": message, "exit_code": exit_code, "problems": found, **details}}


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


def _problems(error: MCPError) -> Iterator[ProblemFields]:
    for problem in getattr(error, "problems", None) or ():
        yield problem_fields(problem)
    if isinstance(error, PluginError) and "\n" in str(error):
        yield from (problem_fields(line) for line in str(error).splitlines())
    suggestion = getattr(error, "suggestion", None) or (getattr(error, "data", None) or {}).get("suggestion")
    if suggestion:
        yield {**problem_fields(str(error)), "suggestion": suggestion}


def _kind(code: int) -> str:
    return {USAGE: "USAGE", CANNOT_START: "CANNOT_START", CANNOT_OPEN: "CANNOT_OPEN"}.get(code, "FAILED")
