"""The judgement of runs, and the list of expected failures."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.verdict import Failure, judge, read_expected


def check(status: str, name: str = "own", **more: str) -> dict[str, Any]:
    return {"id": name, "status": status, "description": f"about {name}", **more}


WIRE = check("SUCCESS", "wire-schema-valid")


def test_a_scenario_passes_when_a_check_of_its_own_succeeds_and_none_fails() -> None:
    checks = [check("SUCCESS"), WIRE, check("INFO"), check("SKIPPED", "other")]
    verdict = judge(["ping"], {"ping": checks}, {})
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
    ids=["failure", "warning", "nothing checked", "no end"],
)
def test_failures_of_a_scenario(checks: list[Any] | None, failure: tuple[str, str]) -> None:
    verdict = judge(["ping"], {} if checks is None else {"ping": checks}, {})
    assert not verdict.good
    assert verdict.passed == []
    assert verdict.unexpected == [Failure("ping", *failure)]
    assert "ping" in verdict.complaints()


def test_an_entry_covers_a_scenario_or_one_check_of_it() -> None:
    runs = {
        "one": [check("FAILURE", "a"), check("FAILURE", "b")],
        "two": [check("FAILURE", "a"), check("FAILURE", "b")],
    }
    verdict = judge(["one", "two"], runs, {"one": "later", "two:a": "later still"})
    assert [(failure.scenario, failure.check, reason) for failure, reason in verdict.expected] == [
        ("one", "a", "later"),
        ("one", "b", "later"),
        ("two", "a", "later still"),
    ]
    assert [(failure.scenario, failure.check) for failure in verdict.unexpected] == [("two", "b")]


def test_an_entry_that_does_not_fail_any_more_is_an_error() -> None:
    runs = {"one": [check("SUCCESS")], "two": [check("FAILURE", "a")]}
    expected = {"one": "later", "two:a": "later", "two:b": "later", "elsewhere": "another revision's"}
    verdict = judge(["one", "two"], runs, expected)
    assert verdict.stale == ["one", "two:b"]
    assert not verdict.good
    assert "STALE  one" in verdict.complaints()


def test_the_list_has_the_format_of_the_suite_with_a_reason_for_each_entry() -> None:
    text = "# about it\nserver:\n  # streams\n  - polling  # no streams yet\n\n  - stateless:code-400  # not yet\n"
    assert read_expected(text) == {"polling": "no streams yet", "stateless:code-400": "not yet"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("  - polling", "line 3 is not"),
        ("  - ping  # again", "line 3: ping is there twice"),
        ("ping", "line 3 is not"),
    ],
)
def test_an_entry_without_a_reason_or_a_second_one_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_expected(f"server:\n  - ping  # not yet\n{line}\n")
