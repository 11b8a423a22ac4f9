"""The real command, and ASGI servers, against the official conformance suite, with one server for each revision."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.run import REVISIONS, conform, serving
from tests.conformance.suite import Suite, installed_suite
from tests.conformance.verdict import EXPECTED, read_expected
from tests.support.redis_server import needs_redis

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return installed_suite()


@pytest.mark.parametrize(
    ("asgi", "revision"),
    [*((None, revision) for revision in REVISIONS), ("uvicorn", "2025-11-25"), ("hypercorn", "2026-07-28")],
)
def test_only_expected_scenarios_fail(asgi: str | None, revision: str, suite: Suite, tmp_path: Path) -> None:
    with serving(tmp_path, asgi) as url:
        verdict = conform(suite, url, revision, tmp_path / "results")
    assert verdict.good, verdict.complaints()
    assert verdict.passed


@pytest.mark.parametrize(
    ("on", "revision"),
    [
        ("memory", "tasks"),
        pytest.param("redis", "tasks", marks=[needs_redis, pytest.mark.needs("redis")]),
        *(
            pytest.param("proxy", revision, marks=[needs_redis, pytest.mark.needs("redis")])
            for revision in ("tasks", "2025-11-25", "2026-07-28")
        ),
    ],
)
def test_no_more_scenarios_fail_with_other_stores(on: str, revision: str, suite: Suite, tmp_path: Path) -> None:
    with serving(tmp_path, on=on) as url:
        verdict = conform(suite, url, revision, tmp_path / "results")
    assert verdict.good, verdict.complaints()
    assert verdict.passed


def test_every_expected_failure_names_a_scenario(suite: Suite) -> None:
    known = {name for revision in REVISIONS for name in suite.scenarios(revision)}
    entries = read_expected(EXPECTED.read_text(encoding="utf-8"))
    assert {entry.partition(":")[0] for entry in entries} <= known
