"""The table of requirements, compared with the tests in both directions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import requirements, schemas
from tests.support.requirements import Named, Rule, Section, addresses, named, problems, sections
from tools.install import ROOT
from tools.mutate import TARGETS

RULE = Rule("ABC-01", "MUST", "It is so.", ("basic/versioning 2026-07-28",), "")
HELD = Named("a.py", "test_a", "ABC-01", runs=True)


def test_every_rule_has_a_test_or_a_reason_and_every_test_names_a_rule() -> None:
    table = sections()
    assert list(problems(table, named())) == []
    rules = [rule for section in table for rule in section.rules]
    assert len([rule for rule in rules if not rule.reason]) > 100
    assert sorted(schemas.REVISIONS) == list(requirements.REVISIONS)


@pytest.mark.parametrize(
    ("rules", "tests", "problem"),
    [
        ((RULE,), [], "ABC-01 has neither a test nor a reason"),
        ((RULE._replace(reason="For later."),), [HELD], "ABC-01 has a test, and a reason why it has none"),
        ((), [HELD], "a.py::test_a names ABC-01, which is not a rule"),
        ((RULE,), [HELD, HELD._replace(test="helper", runs=False)], "a.py::helper names ABC-01 and is never run"),
        ((RULE, RULE), [HELD], "ABC-01 is there twice"),
        ((RULE._replace(sources=("basic/versioning 2025-11-25",)),), [HELD], "ABC-01: invalid sources"),
        ((RULE._replace(level="MAY"),), [HELD], "ABC-01: invalid id, level or rule"),
    ],
)
def test_problems_of_a_table(rules: tuple[Rule, ...], tests: list[Named], problem: str) -> None:
    assert list(problems([Section("a", "A", rules)], tests)) == [problem]
    assert list(problems([Section("a", "A", (RULE,))], [HELD])) == []


def test_a_source_is_a_page_of_revisions_that_have_it() -> None:
    assert len(addresses("basic/transports 2025-03-26..2025-11-25")) == 3
    for source in ("basic/lifecycle 2024-11-05..2026-07-28", "basic/nothing 2026-07-28", "basic/versioning"):
        assert addresses(source) == []


def test_marks_of_tests_that_pytest_does_not_run_are_reported(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        'import pytest\n\n\n@pytest.mark.requirement("A-01", "A-02")\nasync def test_one(): ...\n\n\n'
        '@pytest.mark.requirement("A-03")\n@pytest.mark.skipif(True)\ndef test_two(): ...\n\n\n'
        '@pytest.mark.requirement("A-04")\ndef helper(): ...\n'
    )
    (tmp_path / "other.py").write_text('import pytest\n\n\n@pytest.mark.requirement("A-05")\ndef test_three(): ...\n')
    assert {one.rule: one.runs for one in named(tmp_path)} == {
        "A-01": True, "A-02": True, "A-03": False, "A-04": False, "A-05": False,
    }  # fmt: skip


def test_the_files_that_mutate_names_exist() -> None:
    for path, tests in TARGETS.values():
        assert [one for one in (path, *(f"tests/{test}.py" for test in tests)) if not (ROOT / one).is_file()] == []
