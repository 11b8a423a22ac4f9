"""The table of requirements, compared with the tests in both directions."""

from __future__ import annotations

from pathlib import Path

from tests.support import requirements, schemas
from tests.support.requirements import Named, Rule, Section, named, problems, sections
from tools.install import ROOT
from tools.mutate import TARGETS


def test_every_rule_has_a_test_or_a_reason_and_every_test_names_a_rule() -> None:
    table = sections()
    assert list(problems(table, named())) == []
    rules = [rule for section in table for rule in section.rules]
    assert len([rule for rule in rules if not rule.reason]) > 100
    assert sorted(schemas.REVISIONS) == list(requirements.REVISIONS)


def test_problems_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        'import pytest\n\n\n@pytest.mark.requirement("A-01", "A-02")\nasync def test_one(): ...\n\n\n'
        '@pytest.mark.requirement("A-03")\n@pytest.mark.skipif(True)\ndef test_two(): ...\n'
    )
    tests = named(tmp_path)
    assert tests == [
        Named("test_x.py", "test_one", "A-01", runs=True),
        Named("test_x.py", "test_one", "A-02", runs=True),
        Named("test_x.py", "test_two", "A-03", runs=False),
    ]
    rule = Rule("A-01", "MUST", "It is so.", ("basic/versioning 2026-07-28",), "")
    untested, invalid = rule._replace(id="A-03"), rule._replace(id="A-04", reason="Later.", sources=("basic/x",))
    assert list(problems([Section("a", "A", (rule, untested, invalid))], tests)) == [
        "A-04: invalid sources",
        "test_x.py::test_one names A-02, which is not a rule",
        "test_x.py::test_two names A-03 and is never run",
        "A-03 has neither a test nor a reason",
    ]


def test_the_files_that_mutate_names_exist() -> None:
    for path, tests in TARGETS.values():
        assert [one for one in (path, *(f"tests/{test}.py" for test in tests)) if not (ROOT / one).is_file()] == []
