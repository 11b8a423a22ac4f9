"""The output of `pegboard configure`: the changed lines, the answer of the server, and the table of entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard_plugins.authoring.configure.answer_check import SLOW_SECONDS, Answer

MASKED = "***"
CHANGED = "*** (changed)"
MAX_SHOWN_ITEMS = 8


class CheckedServer(TypedDict):
    """The response of a server that was started as the client does. `problem` is "" if it serves."""

    problem: str
    server: str
    revision: str
    seconds: float
    items: dict[str, list[str]]
    stderr: list[str]


class ConfiguredClient(TypedDict):
    """The output of `pegboard configure CLIENT`. `answer` is None if the server was not checked."""

    client: str
    name: str
    file: str
    changed: bool
    difference: list[str]
    answer: CheckedServer | None


class RemovedEntry(TypedDict):
    """The output of `pegboard configure remove`."""

    client: str
    name: str | None
    file: str
    changed: bool


class ClientEntry(TypedDict):
    """A server in the file of an MCP client, of `pegboard configure list`."""

    client: str
    file: str
    name: str
    server: str
    state: str


ClientEntries = list[ClientEntry]
"""The output of `pegboard configure list`."""


def changed_lines(lines: Callable[[Mapping[str, Any]], list[str]], old: Any, new: Mapping[str, Any]) -> list[str]:
    """Return the difference between two entries as lines marked with - and +. Values that may be secrets are masked.

    The rest of the file is not shown, because it may contain secrets too.

    Args:
        lines: returns the lines of an entry.
        old: the old entry, or None if there is none.
        new: the new entry.
    """
    known = old if isinstance(old, dict) else {}
    before = lines(_masked(known, {})) if known else [] if old is None else [MASKED]
    heading = 3
    after = lines(_masked(new, known))
    return [f"{line[0]} {line[1:]}" for line in [*unified_diff(before, after, n=len(before), lineterm="")][heading:]]


def _masked(entry: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with masked values of variables and headers, and with masked credentials of URLs."""
    return {key: _shown(value, old.get(key)) for key, value in entry.items()}


def _shown(value: Any, old: Any) -> Any:
    if isinstance(value, dict):
        return _hidden(value, old)
    if not isinstance(value, str) or "://" not in value:
        return value
    mask = MASKED if old in (None, value) else CHANGED
    try:
        parts = urlsplit(value)
    except ValueError:
        return mask
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=(mask + at if user else "") + host, query=mask if parts.query else "").geturl()


def _hidden(values: Mapping[str, Any], old: Any) -> dict[str, str]:
    """Return variables or headers with masked values. A changed value gets a different mask."""
    known = old if isinstance(old, dict) else values
    return {key: MASKED if key not in known or known[key] == value else CHANGED for key, value in values.items()}


def answer_lines(answer: Answer) -> list[str]:
    """Return the report about a server for people."""
    if answer.problem:
        return [f"the server does not answer: {answer.problem}", *_stderr(answer)]
    counts = [_count(kind, names) for kind, names in answer.items.items() if names]
    lines = [
        f"the server answers in {answer.seconds:.1f} s: {answer.server}, MCP {answer.revision}",
        f"  it serves {'; '.join(counts)}" if counts else "  it serves no tools, resources or prompts",
    ]
    if answer.seconds > SLOW_SECONDS:
        lines.append(f"  some clients wait only {SLOW_SECONDS:g} s for a server to start")
    return [*lines, *_stderr(answer)]


def _count(kind: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_SHOWN_ITEMS]) + (", ..." if len(names) > MAX_SHOWN_ITEMS else "")
    return f"{len(names)} {kind if len(names) > 1 else kind.removesuffix('s')} ({shown})"


def _stderr(answer: Answer) -> list[str]:
    lines = [line for line in dict.fromkeys(answer.stderr) if line not in answer.problem]
    return ["  its standard error:", *(f"    {line}" for line in lines)] if lines else []
