"""The soak: its journeys against a real server, and its verdict."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.soak.__main__ import Growth, Sample
from benchmarks.soak.tools import THREADS
from tests.structure.sources import ROOT


def test_a_short_soak_passes_and_reports_its_samples() -> None:
    command = [sys.executable, "-m", "benchmarks.soak", "--minutes", "0.02", "--sample-seconds", "1", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["exit"] == 0
    assert report["samples"][-1]["journeys"] > 0
    assert report["samples"][0]["threads"] > THREADS  # all have started, and one runs the event loop


@pytest.mark.parametrize(
    ("grown", "is_level"),
    [
        ({}, True),
        ({"rss_mib": 0.1}, True),
        ({"rss_mib": 0.5}, False),
        ({"descriptors": 1}, False),
        ({"threads": 1}, False),
    ],
)
def test_growth_in_the_second_half_alone_counts(grown: dict[str, float], is_level: bool) -> None:
    def sample(minute: int) -> Sample:
        values = {"rss_mib": 70.0 + min(minute, 30), "descriptors": 10, "threads": 5}
        later = {key: values[key] + step * (minute - 30) for key, step in grown.items()}
        return Sample(minute=minute, journeys=0, cpu_seconds=0, **(values | later if minute > 30 else values))  # type: ignore[arg-type]

    assert Growth.of([sample(minute) for minute in range(60)]).is_level is is_level


def test_a_thread_that_ends_again_is_no_growth() -> None:
    samples = [Sample(minute, 0, rss_mib=70, descriptors=10, threads=5, cpu_seconds=0) for minute in range(60)]
    samples[-1] = samples[-1]._replace(threads=6)
    assert Growth.of(samples).is_level
