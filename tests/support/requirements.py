"""The table of requirements: the rules of the specification for a server, and the tests of each rule.

The rules are in `tests/requirements/rules/*.toml`. A test names its rules: `@pytest.mark.requirement("HTTP-01")`. Tests
are parsed, not imported, so that the table is known without a run.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).parent.parent
RULES = TESTS / "requirements" / "rules"
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "OURS")
"""The words of the specification, and OURS for promises where the specification recommends or is open."""
SITE = "https://modelcontextprotocol.io/specification"

PAGES: dict[str, list[str]] = tomllib.loads((TESTS / "requirements" / "pages.toml").read_text("utf-8"))
"""The revisions that have a page of the specification, oldest first, by page."""
REVISIONS = tuple(sorted({revision for revisions in PAGES.values() for revision in revisions}))

_ID = re.compile(r"([A-Z]+)-[0-9]{2}")
_SOURCE = re.compile(r"(\S+) ([0-9-]{10})(?:\.\.([0-9-]{10}))?")


class Rule(NamedTuple):
    """One rule; `reason` says why no test checks it, and is empty for a rule with tests."""

    id: str
    level: str
    rule: str
    sources: tuple[str, ...]
    reason: str


class Section(NamedTuple):
    """The rules of one file."""

    name: str
    title: str
    rules: tuple[Rule, ...]


class Named(NamedTuple):
    """A test that names a rule; `runs` is True if pytest collects it."""

    path: str
    test: str
    rule: str
    runs: bool


def sections() -> list[Section]:
    """Return all sections in the order of their numbers."""
    tables = [(path, tomllib.loads(path.read_text("utf-8"))) for path in RULES.glob("*.toml")]
    return [
        Section(path.stem, table.pop("title"), tuple(_rules(table)))
        for path, table in sorted(tables, key=lambda item: str(item[0]))
    ]


def _rules(table: dict[str, Any]) -> Iterator[Rule]:
    for name, row in table.items():
        sources = row.pop("source")
        yield Rule(name, row.pop("level"), row.pop("rule"), tuple(sources), row.pop("reason", ""))
        if row:
            raise ValueError(f"{name}: unknown members {sorted(row)}")


def named(folder: Path = TESTS) -> list[Named]:
    """Return every rule that a test names, in the order of files and lines."""
    return [mark for path in sorted(folder.rglob("*.py")) for mark in _named_in(path, folder)]


def _named_in(path: Path, folder: Path) -> Iterator[Named]:
    text = path.read_text("utf-8")
    if "mark.requirement(" not in text:
        return
    tree = ast.parse(text)
    collected = {node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        marks = [_mark(decorator) for decorator in node.decorator_list]
        runs = path.name.startswith("test_") and node in collected and node.name.startswith("test_")
        runs = runs and not any(name in ("skip", "skipif", "xfail") for name, _ in marks)
        for name, arguments in marks:
            for argument in arguments if name == "requirement" else ():
                yield Named(str(path.relative_to(folder)), node.name, argument, runs)


def _mark(decorator: ast.expr) -> tuple[str, list[str]]:
    """Return the name of a mark of pytest and its positional strings; empty for another decorator."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not ast.unparse(called).startswith("pytest.mark."):
        return "", []
    arguments = decorator.args if isinstance(decorator, ast.Call) else []
    texts = [
        argument.value
        for argument in arguments
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return ast.unparse(called).removeprefix("pytest.mark."), texts


def problems(table: Sequence[Section], tests: Iterable[Named]) -> Iterator[str]:
    """Yield the problems of the table and of its relation to the tests."""
    rules = [rule for section in table for rule in section.rules]
    ids = [rule.id for rule in rules]
    yield from (
        f"{requirement} is there twice"
        for requirement in sorted({requirement for requirement in ids if ids.count(requirement) > 1})
    )
    for rule in rules:
        if not (_ID.fullmatch(rule.id) and rule.level in LEVELS and rule.rule.endswith(".")):
            yield f"{rule.id}: invalid id, level or rule"
        if not rule.sources or not all(map(addresses, rule.sources)):
            yield f"{rule.id}: invalid sources"
    held = set()
    for test in tests:
        if test.rule not in ids:
            yield f"{test.path}::{test.test} names {test.rule}, which is not a rule"
        if not test.runs:
            yield f"{test.path}::{test.test} names {test.rule} and is never run"
        held.add(test.rule if test.runs else "")
    for rule in rules:
        if not rule.reason and rule.id not in held:
            yield f"{rule.id} has neither a test nor a reason"
        if rule.reason and rule.id in held:
            yield f"{rule.id} has a test, and a reason why it has none"


def addresses(source: str) -> list[str]:
    """Return the URLs of a source; none for an invalid source."""
    if source.startswith("https://"):
        return [source]
    match = _SOURCE.fullmatch(source)
    if match is None:
        return []
    page, first, last = match[1].partition("#")[0], match[2], match[3] or match[2]
    having = [revision for revision in PAGES.get(page, ()) if first <= revision <= last]
    whole = having[:1] == [first] and having[-1:] == [last]
    return [f"{SITE}/{revision}/{match[1]}" for revision in reversed(having)] if whole else []
