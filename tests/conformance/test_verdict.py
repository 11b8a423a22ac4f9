"""The verdict on a run of the conformance suite."""

from __future__ import annotations

from typing import Any

from tests.conformance.verdict import Failure, judge, read_expected


def check(status: str, name: str = "own", **more: str) -> dict[str, Any]:
    return {"id": name, "status": status, "description": f"about {name}", **more}


GOOD = [check("SUCCESS"), check("SUCCESS", "wire-schema-valid")]


def test_warnings_and_scenarios_without_a_check_or_an_end_are_failures() -> None:
    runs = {"good": GOOD, "bad": [check("SUCCESS"), check("WARNING", "bad")], "empty": [GOOD[1], check("SKIPPED")]}
    verdict = judge(["good", "bad", "empty", "lost"], runs, {})
    assert (verdict.good, verdict.passed) == (False, ["good"])
    assert verdict.unexpected == [
        Failure("bad", "bad", "about bad"),
        Failure("empty", "nothing-checked", "no check of its own was made"),
        Failure("lost", "did-not-complete", "the suite gave up on it; see run.log"),
    ]


def test_an_entry_covers_a_scenario_or_one_check_and_must_still_fail() -> None:
    both = [check("FAILURE", "a"), check("FAILURE", "b")]
    expected = read_expected("server:\n  - one  # 1\n  - two:a  # 2\n  - three  # 4\n")
    verdict = judge(["one", "two", "three"], {"one": both, "two": both, "three": GOOD}, expected)
    told = [(one.scenario, one.check, why) for one, why in verdict.expected]
    assert told == [("one", "a", "1"), ("one", "b", "1"), ("two", "a", "2")]
    assert [(one.scenario, one.check) for one in verdict.unexpected] == [("two", "b")]
    assert (verdict.stale, verdict.good) == (["three"], False)
