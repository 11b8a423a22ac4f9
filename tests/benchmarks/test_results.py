"""The results of a run as a document, and the page that shows them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.document import Document
from benchmarks.page.__main__ import files, read
from benchmarks.page.svg import Series, lines


def test_the_page_and_its_pictures_are_those_of_the_results() -> None:
    differing = [path.name for path, text in files(read()) if path.read_text("utf-8") != text]
    assert differing == [], "run: python -m benchmarks.page"


def test_a_document_is_read_as_it_was_written_and_lacks_failed_scenarios(tmp_path: Path) -> None:
    document, file = Document({"rounds": 2}), tmp_path / "results.json"
    with document.measuring("call"):
        for microseconds in (10.0, 30.0):
            document.results.add("call", "add", "pegboard", cpu_us=microseconds)
    with pytest.raises(ZeroDivisionError), document.measuring("start"):
        document.results.add("start", "add", "pegboard", cpu_ms=1 / 0)
    document.write(file)
    data = json.loads(file.read_text("utf-8"))
    # the scenario took no time, so the mean load of the machine is rounding
    unstable: dict[str, list[str]] = {"warnings": []}
    assert Document.read(data).as_json() | unstable == data | unstable
    assert [run["name"] for run in data["scenarios"]] == ["call"]
    (row,) = data["results"]
    assert row["metrics"]["cpu_us"] == {"median": 20, "min": 10, "max": 30, "values": [10, 30]}
    with pytest.raises(ValueError, match="make bench"):
        Document.read(data | {"format": 0})


def test_the_names_of_lines_that_end_together_do_not_overlap() -> None:
    series = [Series(f"line {place}", "red", ((1, 1), (10, 5 + place / 100))) for place in range(5)]
    texts = [line for line in lines("t", "ms", "x", series, logarithmic=True).splitlines() if ">line" in line]
    heights = sorted(float(line.rpartition("<text")[2].split('y="')[1].split('"')[0]) for line in texts)
    assert all(below - above >= 14 for above, below in pairwise(heights))
