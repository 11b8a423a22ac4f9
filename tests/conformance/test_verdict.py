"""The verdict on a run of the conformance suite."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.verdict import Failure, judge, read_expected


def check(status: str, name: str = "own", **more: str) -> dict[str, Any]:
    return {"id": name, "status": status, "description": f"about {name}", **more}


WIRE = check("SUCCESS", "wire-schema-valid")


@pytest.mark.parametrize(
    ("checks", "failure"),
    [
        ([check("SUCCESS"), check("FAILURE", "bad", errorMessage="of  two\nlines")], ("bad", "of two lines")),
        ([check("SUCCESS"), check("WARNING", "bad")], ("bad", "about bad")),
        ([WIRE, check("INFO"), check("SKIPPED")], ("nothing-checked", "no check of its own was made")),
        (None, ("did-not-complete", "the suite gave up on it; see run.log")),
    ],
)
def test_failures_of_a_scenario(checks: list[Any] | None, failure: tuple[str, str]) -> None:
    verdict = judge(["ping"], {} if checks is None else {"ping": checks}, {})
    assert (verdict.good, verdict.passed, verdict.unexpected) == (False, [], [Failure("ping", *failure)])
    assert judge(["ping"], {"ping": [check("SUCCESS"), WIRE]}, {}).passed == ["ping"]


def test_an_entry_covers_a_scenario_or_one_check_and_must_still_fail() -> None:
    both = [check("FAILURE", "a"), check("FAILURE", "b")]
    expected = read_expected("# x\nserver:\n  - one  # 1\n  - two:a  # 2\n  - two:c  # 3\n  - three  # 4\n")
    assert expected == {"one": "1", "two:a": "2", "two:c": "3", "three": "4"}
    verdict = judge(["one", "two", "three"], {"one": both, "two": both, "three": [check("SUCCESS")]}, expected)
    assert [(one.scenario, one.check, why) for one, why in verdict.expected] == [
        ("one", "a", "1"),
        ("one", "b", "1"),
        ("two", "a", "2"),
    ]
    assert [(one.scenario, one.check) for one in verdict.unexpected] == [("two", "b")]
    assert (verdict.stale, verdict.good) == (["two:c", "three"], False)
    for line in ("  - polling", "  - ping  # again"):
        with pytest.raises(ValueError, match="line 3"):
            read_expected(f"server:\n  - ping  # not yet\n{line}\n")
