"""Failures of commands: their exit codes, and their output as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegboard.cli import CANNOT_OPEN, CANNOT_START, FAILED, USAGE
from pegboard.cli.parsing.parser import may_serve_stdio
from pegboard.errors import ConfigError, MCPError, PluginError, ProtocolError, TransportError
from pegboard.terminal.failures import ProblemFields, failure_fields, problem_fields
from pegboard.terminal.printing import UsageError, print_json, say


def report_error(error: MCPError, words: Sequence[str] = ()) -> int:
    """Report an error on stderr, or as JSON on stdout if a command line wants it. Return the exit code for it."""
    code = code_for(error)
    if "--json" in words and not may_serve_stdio(words):
        of_server = {"code": error.code, "data": error.data} if isinstance(error, ProtocolError) else {}
        print_json(failure_fields(str(error), code, _kind(code), [*_problems(error)], **of_server))
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
