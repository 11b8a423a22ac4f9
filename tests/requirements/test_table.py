"""The table of requirements, compared with the tests in both directions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import requirements
from tests.support.requirements import Named, Rule, Section, addresses, named, problems, sections
from tools.install import ROOT

RULE = Rule("ABC-01", "MUST", "It is so.", ("basic/versioning 2026-07-28",), "")
HELD = Named("a.py", "test_a", "ABC-01", runs=True)


def test_every_rule_has_a_test_or_a_reason_and_every_test_names_a_rule() -> None:
    assert list(problems(sections(), named())) == []


def test_the_table_is_not_empty() -> None:
    rules = [rule for section in sections() for rule in section.rules]
    assert len(rules) >= 150
    assert len([rule for rule in rules if not rule.reason]) > len(rules) / 2


def test_a_sound_table_has_no_problems() -> None:
    assert list(problems([Section("a", "A", (RULE,))], [HELD])) == []


@pytest.mark.parametrize(
    ("rules", "tests", "problem"),
    [
        ((RULE,), [], "ABC-01 has neither a test nor a reason"),
        ((RULE._replace(reason="For later."),), [HELD], "ABC-01 has a test, and a reason why it has none"),
        ((), [HELD], "a.py::test_a names ABC-01, which is not a rule"),
        ((RULE,), [HELD, HELD._replace(test="helper", runs=False)], "a.py::helper names ABC-01 and is never run"),
        ((RULE, RULE), [HELD], "ABC-01 is there twice"),
        ((RULE._replace(id="ABC-02", reason="No."), RULE), [HELD], "a: the ids are not in order"),
        ((RULE, RULE._replace(id="XYZ-01", reason="No.")), [HELD], "a: the ids have several beginnings"),
        ((RULE._replace(sources=()),), [HELD], "ABC-01: there is no source"),
        ((RULE._replace(sources=("basic/versioning 2025-11-25",)),), [HELD], "is not a source"),
        ((RULE._replace(level="MAY"),), [HELD], "ABC-01: MAY is not a level"),
        ((RULE._replace(rule="It is. So"),), [HELD], "ABC-01: the rule is not one sentence"),
        ((RULE._replace(id="abc"),), [HELD], "abc: the id is not of the form ABC-01"),
    ],
)
def test_problems_of_a_table(rules: tuple[Rule, ...], tests: list[Named], problem: str) -> None:
    found = list(problems([Section("a", "A", rules)], tests))
    assert any(problem in one for one in found), found


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("basic/transports 2025-03-26..2025-11-25", 3),
        ("basic/versioning#x 2026-07-28", 1),
        ("https://www.jsonrpc.org/specification", 1),
        ("basic/lifecycle 2024-11-05..2026-07-28", 0),
        ("basic/nothing 2026-07-28", 0),
        ("basic/versioning 2026-07-29", 0),
        ("basic/versioning", 0),
    ],
)
def test_a_source_is_a_page_of_revisions_that_have_it(source: str, count: int) -> None:
    assert len(addresses(source)) == count


def test_marks_are_found_everywhere_and_those_that_pytest_does_not_run_are_reported(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        'import pytest\n\n\n@pytest.mark.requirement("A-01", "A-02")\nasync def test_one(): ...\n\n\n'
        '@pytest.mark.requirement("A-03")\n@pytest.mark.skipif(True)\ndef test_two(): ...\n\n\n'
        '@pytest.mark.requirement("A-04")\ndef helper(): ...\n\n\n'
        'def test_outer():\n    @pytest.mark.requirement("A-05")\n    def test_inner(): ...\n'
    )
    (tmp_path / "other.py").write_text('import pytest\n\n\n@pytest.mark.requirement("A-06")\ndef test_three(): ...\n')
    assert {one.rule: one.runs for one in named(tmp_path)} == {
        "A-01": True, "A-02": True, "A-03": False, "A-04": False, "A-05": False, "A-06": False,
    }  # fmt: skip


def test_the_revisions_are_those_that_are_served() -> None:
    from tests.support.schemas import REVISIONS

    assert sorted(REVISIONS) == list(requirements.REVISIONS)


def test_the_files_that_mutate_names_exist() -> None:
    """`tools/mutate.py` names modules and tests by their files."""
    from tools.mutate import TARGETS

    for path, tests in TARGETS.values():
        assert [one for one in (path, *(f"tests/{test}.py" for test in tests)) if not (ROOT / one).is_file()] == []
