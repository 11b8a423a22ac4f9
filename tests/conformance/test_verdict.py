"""The verdict on a run of the conformance suite."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.verdict import Failure, judge, read_expected


def check(status: str, name: str = "own", **more: str) -> dict[str, Any]:
    return {"id": name, "status": status, "description": f"about {name}", **more}


WIRE = check("SUCCESS", "wire-schema-valid")


def test_a_scenario_passes_when_a_check_of_its_own_succeeds_and_none_fails() -> None:
    verdict = judge(["ping"], {"ping": [check("SUCCESS"), WIRE, check("INFO"), check("SKIPPED", "other")]}, {})
    assert verdict.good
    assert (verdict.passed, verdict.succeeded, verdict.skipped) == (["ping"], 2, 1)


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
    assert "ping" in verdict.complaints()


def test_an_entry_covers_a_scenario_or_one_check_and_must_still_fail() -> None:
    both = [check("FAILURE", "a"), check("FAILURE", "b")]
    expected = read_expected(
        "# x\nserver:\n  - one  # 1\n  - two:a  # 2\n  - two:c  # 3\n  - three  # 4\n\n  - other  # 5\n"
    )
    assert expected == {"one": "1", "two:a": "2", "two:c": "3", "three": "4", "other": "5"}
    verdict = judge(["one", "two", "three"], {"one": both, "two": both, "three": [check("SUCCESS")]}, expected)
    assert [(one.scenario, one.check, why) for one, why in verdict.expected] == [
        ("one", "a", "1"),
        ("one", "b", "1"),
        ("two", "a", "2"),
    ]
    assert [(one.scenario, one.check) for one in verdict.unexpected] == [("two", "b")]
    assert (verdict.stale, verdict.good) == (["two:c", "three"], False)
    assert "STALE  three" in verdict.complaints()


@pytest.mark.parametrize(
    ("line", "complaint"), [("  - polling", "line 3 is not"), ("  - ping  # again", "line 3: ping is there twice")]
)
def test_an_entry_without_a_reason_or_a_second_one_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_expected(f"server:\n  - ping  # not yet\n{line}\n")
