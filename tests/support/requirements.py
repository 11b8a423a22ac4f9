"""The table of requirements: what the specification asks of a server, rule by rule, and the tests that hold it.

The rules are in `tests/requirements/rules/*.toml`; a test names what it holds, `@pytest.mark.requirement("HTTP-01")`.
Tests are read, not imported: the table is known without a run.
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
"""The specification's words, and what is promised where it advises, or leaves it open."""
SITE = "https://modelcontextprotocol.io/specification"

PAGES: dict[str, list[str]] = tomllib.loads((TESTS / "requirements" / "pages.toml").read_text("utf-8"))
"""Page of the specification -> the revisions that have it, oldest first."""
REVISIONS = tuple(sorted({revision for revisions in PAGES.values() for revision in revisions}))

_ID = re.compile(r"([A-Z]+)-[0-9]{2}")
_SOURCE = re.compile(r"(\S+) ([0-9-]{10})(?:\.\.([0-9-]{10}))?")


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: its name, for good: a rule that is no more leaves a gap.
        level: one of LEVELS.
        rule: what it says, in one sentence.
        sources: where it stands: `page revision`, `page first..last`, or an address.
        reason: why no test holds it; empty for a rule that tests hold.
    """

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
    """A test that names a rule.

    Attributes:
        path: its file, relative to the folder of tests.
        test: its name.
        rule: the id that it names.
        runs: whether pytest collects it.
    """

    path: str
    test: str
    rule: str
    runs: bool


def sections() -> list[Section]:
    """All sections, in the order that a reader meets them: by their number."""
    found = [(path, tomllib.loads(path.read_text("utf-8"))) for path in RULES.glob("*.toml")]
    return [
        Section(path.stem, table.pop("title"), tuple(_rules(table)))
        for path, table in sorted(found, key=lambda one: str(one[0]))
    ]


def _rules(table: dict[str, Any]) -> Iterator[Rule]:
    for name, row in table.items():
        sources = row.pop("source")
        yield Rule(name, row.pop("level"), row.pop("rule"), tuple(sources), row.pop("reason", ""))
        if row:
            raise ValueError(f"{name}: unknown members {sorted(row)}")


def named(folder: Path = TESTS) -> list[Named]:
    """Every rule that a test names, in the order of files and lines."""
    return [one for path in sorted(folder.rglob("*.py")) for one in _named_in(path, folder)]


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
        for name, given in marks:
            for one in given if name == "requirement" else ():
                yield Named(str(path.relative_to(folder)), node.name, one, runs)


def _mark(decorator: ast.expr) -> tuple[str, list[str]]:
    """The name of a mark of pytest and its positional texts; empty for any other decorator."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not ast.unparse(called).startswith("pytest.mark."):
        return "", []
    given = decorator.args if isinstance(decorator, ast.Call) else []
    texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return ast.unparse(called).removeprefix("pytest.mark."), texts


def problems(table: Sequence[Section], tests: Iterable[Named]) -> Iterator[str]:
    """What is wrong with the table, or between it and the tests; nothing when all is in order."""
    rules = [rule for section in table for rule in section.rules]
    ids = [rule.id for rule in rules]
    yield from (f"{one} stands twice" for one in sorted({one for one in ids if ids.count(one) > 1}))
    for section in table:
        own = [rule.id for rule in section.rules]
        if own != sorted(own):
            yield f"{section.name}: the ids are not in order"
        if len({one.partition("-")[0] for one in own}) > 1:
            yield f"{section.name}: the ids have several beginnings"
    for rule in rules:
        yield from (f"{rule.id}: {what}" for what in _faults(rule))
    tests = list(tests)
    yield from (
        f"{test.path}::{test.test} names {test.rule}, which is no rule" for test in tests if test.rule not in ids
    )
    yield from (f"{test.path}::{test.test} names {test.rule} and is never run" for test in tests if not test.runs)
    held = {test.rule for test in tests if test.runs}
    for rule in rules:
        if not rule.reason and rule.id not in held:
            yield f"{rule.id} has neither a test nor a reason"
        if rule.reason and rule.id in held:
            yield f"{rule.id} has a test, and a reason why it has none"


def _faults(rule: Rule) -> Iterator[str]:
    if not _ID.fullmatch(rule.id):
        yield "the id is not of the form ABC-01"
    if rule.level not in LEVELS:
        yield f"{rule.level} is no level"
    if not re.fullmatch(r"[A-Z`].*[^.]\.", rule.rule) or ". " in rule.rule:
        yield "the rule is not one sentence"
    if rule.reason and not rule.reason.endswith("."):
        yield "the reason is not a sentence"
    if not rule.sources:
        yield "there is no source"
    yield from (f"{source} is no source" for source in rule.sources if not addresses(source))


def addresses(source: str) -> list[str]:
    """Where a source can be read; empty for what is no source."""
    if source.startswith("https://"):
        return [source]
    match = _SOURCE.fullmatch(source)
    if match is None:
        return []
    page, first, last = match[1].partition("#")[0], match[2], match[3] or match[2]
    having = [one for one in PAGES.get(page, ()) if first <= one <= last]
    whole = having[:1] == [first] and having[-1:] == [last]
    return [f"{SITE}/{one}/{match[1]}" for one in reversed(having)] if whole else []
