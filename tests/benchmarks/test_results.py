"""The results of a run as a document, and the page that shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from benchmarks import memory, promises
from benchmarks.bench import Bench, Burst, Bursts
from benchmarks.contenders import FLOOR, PEGBOARD, SDK, SDK_FAST, Contender, Contenders
from benchmarks.document import Document
from benchmarks.environments import Environment, Environments
from benchmarks.http import calls
from benchmarks.messages import LEGACY, MODERN
from benchmarks.page.__main__ import files, main, read
from benchmarks.page.promise_tables import missed_goals
from benchmarks.page.svg import Series, bars, lines
from benchmarks.results import Peer, Promise, Results, Summary
from tests.docs.pages import Page

CASE = calls.case(MODERN, "add", 16)


class Named(Contenders):
    """Contenders that are names only."""

    def _make(self, name: str) -> Contender:
        return Contender(name, Environment(Path(), {}))


def bench(results: Results, *names: str, rounds: int = 1) -> Bench:
    return Bench(Named(cast("Environments", None)), results, names, rounds, 1.0, None)


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
    assert row["metrics"]["cpu_us"] == {"median": 20, "min": 10, "max": 30, "q1": 15, "q3": 25, "values": [10, 30]}
    with pytest.raises(ValueError, match="make bench"):
        Document.read(data | {"format": 0})


@pytest.mark.parametrize(("microseconds", "refused"), [((100.0, 129.0), False), ((100.0, 131.0), True)])
def test_a_page_with_unsteady_rounds_is_not_written(
    microseconds: tuple[float, ...], refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, cache = tmp_path / "results.json", tmp_path / "cache.json"
    monkeypatch.setattr("benchmarks.page.__main__.RESULTS", page)
    monkeypatch.setattr("benchmarks.page.__main__.files", lambda _: iter(()))
    document = Document(read().method)
    with document.measuring(calls.NAME), document.measuring(memory.NAME):
        for value in microseconds:
            document.results.add(calls.NAME, CASE, PEGBOARD, cpu_us=value)
    document.write(cache)
    if refused:
        with pytest.raises(SystemExit, match=rf"1 rows .*\n{calls.NAME} {CASE}: {PEGBOARD}, 100 to 131 "):
            main(cache)
    else:
        main(cache)
    assert page.exists() != refused
    kept = Document.read(json.loads(cache.read_text("utf-8"))).scenarios
    assert list(kept) == ([memory.NAME] if refused else [memory.NAME, calls.NAME])


def test_a_promise_compares_the_medians_of_each_round_and_names_the_best_peer() -> None:
    results = Results()
    for speed in (1.0, 2.0, 1.5):  # of the machine
        for name, cpu_us in ((PEGBOARD, 160.0), (FLOOR, 100.0), (SDK, 900.0), (SDK_FAST, 400.0)):
            results.add(calls.NAME, CASE, name, cpu_us=cpu_us * speed)
    (promise,) = promises.of(results)
    assert promise.measured.values == (1.6,) * 3
    assert promises.line(promise) == (
        f"missed {calls.NAME} {CASE}: {PEGBOARD}: 1.6 (1.6 to 1.6) x floor, at most 1.2; {SDK_FAST} 4"
    )


def test_a_goal_names_each_case_that_misses_it_with_the_excess_and_the_best_peer() -> None:
    values = {"a": (1.3, Peer(SDK, 5)), "b": (1.5, Peer(SDK_FAST, 4)), "kept": (1.2, None)}
    checked = [
        Promise(calls.NAME, case, Summary((value,)), 1.2, "x floor", PEGBOARD, peer)
        for case, (value, peer) in values.items()
    ]
    count, _, _, goal = missed_goals(checked)
    assert count == "1 of 3 promises are kept, and 2 are missed:\n"
    cells = ["call over HTTP: pegboard", "a; b", "1.2 times floor", "1.3 to 1.5", "8.3 to 25 %"]
    assert goal.strip("| ").split(" | ") == [*cells, "mcp 2 or mcp 2, fastest: 4 to 5"]
    assert missed_goals(checked[2:]) == ["All 1 promises are kept."]


def test_the_page_names_every_missed_promise() -> None:
    missed = [promise for promise in promises.of(read().results) if not promise.kept]
    rows = re.findall(r"^\| .*? \| (.*?) \|", Page("docs/results.md").partition("<!-- missed -->")[2], re.M)[1:]
    assert sorted("; ".join(rows).split("; ")) == sorted(promise.case for promise in missed)


@pytest.mark.parametrize(
    "text",
    [
        f"start without toolkits or with toolkit-files | {promises.START:g} times `pydantic`",
        f"start with a lazy lock of any size | {promises.START_LAZY:g} times `pydantic`",
        f"calls over HTTP | {promises.EARLY[MODERN]:g} times the floor, in sessions {promises.EARLY[LEGACY]:g} times;",
        f"pipelined {promises.STDIO:g} times `floor+tasks`",
        f"A host takes at most {promises.MEMORY_MIB} MiB at rest",
    ],
)
def test_the_page_has_the_limits_of_the_promises(text: str) -> None:
    assert text in Page("benchmarks/README.md").words


def test_contenders_take_turns_in_short_bursts_and_a_round_has_their_medians() -> None:
    values = {"a": iter((1.0, 5.0, 2.0)), "b": iter((4.0, 6.0, 9.0))}
    order: list[tuple[str, str]] = []

    @contextmanager
    def prepare(contender: Contender) -> Iterator[dict[tuple[str, str], Burst]]:
        def burst(case: str) -> dict[str, float]:
            order.append((case, contender.name))
            return {"cpu_us": next(values[contender.name]) if case == "short" else 1.0}

        yield {(case, contender.name): partial(burst, case) for case in ("short", "long")}

    results = Results()
    bench(results, "a", "b").measure("call", ("a", "b"), prepare, bursts=3)
    assert order == [("short", "a"), ("short", "b"), ("long", "a"), ("long", "b")] * 3
    assert [results.get("call", "short", name, "cpu_us") for name in "ab"] == [Summary((2.0,)), Summary((6.0,))]


def test_unsteady_rounds_are_measured_again_and_the_last_attempt_counts() -> None:
    values = iter([1.0, 2.0, 3.0, 3.3])  # two attempts of two rounds

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        yield {("short", contender.name): lambda: {"cpu_us": next(values)}}

    results = Results()
    bench(results, "a", rounds=2).measure("call", ("a",), prepare, bursts=1, steady=("cpu_us",))
    assert results.get("call", "short", "a", "cpu_us") == Summary((3.0, 3.3))


def test_bars_show_their_quartiles() -> None:
    picture = bars("t", "ms", [Series("a", "red", ((0, Summary((50.0, 75.0, 100.0))),))])
    width = 440 / 87.5  # of a ms
    (path,) = re.findall(r'<path d="M(\S+) \d+v8m0 -4H(\S+?)m0 -4v8"', picture)
    assert [float(x) for x in path] == pytest.approx([200 + 62.5 * width, 200 + 87.5 * width], abs=0.1)


def test_the_names_of_lines_that_end_together_do_not_overlap() -> None:
    ends = [((1, Summary((1,))), (10, Summary((5 + place / 100,)))) for place in range(5)]
    series = [Series(f"line {place}", "red", points) for place, points in enumerate(ends)]
    texts = [line for line in lines("t", "ms", "x", series, logarithmic=True).splitlines() if ">line" in line]
    heights = sorted(float(line.rpartition("<text")[2].split('y="')[1].split('"')[0]) for line in texts)
    assert all(below - above >= 14 for above, below in pairwise(heights))
