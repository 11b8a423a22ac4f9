"""Writes docs/results.md, its pictures, promises.md and the table of the README: `python -m benchmarks.page [RESULTS]`.

Results in another file replace `results.json`. Nothing is written if the rounds of a row differ too much.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks import promises
from benchmarks.document import Document
from benchmarks.environments import HERE, ROOT
from benchmarks.page import svg
from benchmarks.page.figures import FIGURES
from benchmarks.page.promise_tables import kept_and_missed, missed_goals
from benchmarks.page.summary import summary
from benchmarks.results import NOISY, Results

RESULTS: Final = HERE / "results.json"
PAGE: Final = ROOT / "docs" / "results.md"
PROMISES: Final = HERE / "promises.md"
README: Final = ROOT / "README.md"
_PLACE: Final = re.compile(r"<!-- ([a-z-]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def files(document: Document) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each page and of each picture."""
    for page in (PAGE, PROMISES, README):
        yield page, _PLACE.sub(lambda place: _filled(place[1], document), page.read_text("utf-8"))
    for name, figure in FIGURES.items():
        if figure.is_measured(document.results):
            yield _picture(name), figure.picture(document.results)


def read(results: Path = RESULTS) -> Document:
    """Return the results that the page shows."""
    return Document.read(json.loads(results.read_text("utf-8")))


def unsteady(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the scenario of each row of the page whose rounds differ too much, and a description of the row."""
    for figure in FIGURES.values():
        yield from ((figure.scenario, row) for row in figure.unsteady(results))
    for promise in promises.of(results):
        if promise.is_ratio and promise.measured.spread > NOISY:
            least, most = map(svg.number, (min(promise.measured.values), max(promise.measured.values)))
            yield promise.scenario, f"{promise.subject}, {least} to {most} {promise.unit}"


def _filled(name: str, document: Document) -> str:
    if name == "method":
        lines = _method(document)
    elif name == "summary":
        lines = summary(document.results)
    elif name == "missed":
        lines = missed_goals(promises.of(document.results))
    elif name == "promises":
        lines = kept_and_missed(promises.of(document.results))
    elif not (figure := FIGURES[name]).is_measured(document.results):
        lines = [f"{figure.title}: not measured in this run."]
    else:
        lines = [f"![{figure.title}](images/{_picture(name).name})\n", *figure.table(document.results)]
    return "\n".join([f"<!-- {name} -->", *lines, "<!-- end -->\n"])


def _picture(name: str) -> Path:
    return PAGE.parent / "images" / f"results-{name}.svg"


def _method(document: Document) -> list[str]:
    method, runs = document.method, list(document.scenarios.values())
    machine = method["machine"]
    versions: dict[str, set[str]] = {}
    for installed in method["versions"].values():
        for name, version in installed.items():
            versions.setdefault(name, set()).add(version)
    shown = [f"{name} {' and '.join(sorted(numbers))}" for name, numbers in sorted(versions.items())]
    facts = {
        "date": f"{runs[0].date[:10]}, {sum(run.seconds for run in runs) / 60:.0f} minutes",
        "machine": f"{machine['system']}, {machine['processor']}, {machine['processors']} processors",
        "Python": method["python"],
        "versions in this run": ", ".join(shown),
        "commit": method["revision"],
        "method": f"medians of {method['rounds']} rounds. In a round, contenders take turns in short bursts, which"
        f" together take each about {method['seconds']} s",
        "warnings": "; ".join(document.warnings()) or "none",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items())]


def main(results: Path = RESULTS) -> None:
    """Write the page and its pictures.

    Raises:
        SystemExit: the rounds of a shown row differ too much.
    """
    document = read(results)
    if rows := list(unsteady(document.results)):
        for scenario in {scenario for scenario, _ in rows}:
            document.forget(scenario)
        if results != RESULTS:
            document.write(results)
        raise SystemExit(
            f"the page is not written, because the rounds of {len(rows)} rows differ by more than {NOISY} times:"
            " repeat `make results`, which measures their scenarios again\n" + "\n".join(map(" ".join, rows))
        )
    if results != RESULTS:
        document.write(RESULTS)
    for path, text in files(document):
        path.write_text(text, "utf-8")
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
