"""Writes docs/results.md, its pictures and the table of the README: `python -m benchmarks.page`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.document import Document
from benchmarks.environments import HERE, ROOT
from benchmarks.page.figures import FIGURES
from benchmarks.page.summary import summary

RESULTS: Final = HERE / "results.json"
PAGE: Final = ROOT / "docs" / "results.md"
README: Final = ROOT / "README.md"
_PLACE: Final = re.compile(r"<!-- ([a-z-]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def files(document: Document) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of the page, of the README and of each picture."""
    for page in (PAGE, README):
        yield page, _PLACE.sub(lambda place: _filled(place[1], document), page.read_text("utf-8"))
    for name, figure in FIGURES.items():
        if figure.is_measured(document.results):
            yield _picture(name), figure.picture(document.results)


def read() -> Document:
    """Return the results that the page shows."""
    return Document.read(json.loads(RESULTS.read_text("utf-8")))


def _filled(name: str, document: Document) -> str:
    if name == "method":
        lines = _method(document)
    elif name == "summary":
        lines = summary(document.results)
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
    shown = [f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items())]
    facts = {
        "date": f"{runs[0].date[:10]}, {sum(run.seconds for run in runs) / 60:.0f} minutes",
        "machine": f"{machine['system']}, {machine['processor']}, {machine['processors']} processors",
        "Python": method["python"],
        "versions": ", ".join(shown),
        "commit": method["revision"],
        "method": f"median of {method['rounds']} rounds of about {method['seconds']} s for each call",
        "warnings": "; ".join(document.warnings()) or "none",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items())]


def main() -> int:
    """Write the page and its pictures."""
    for path, text in files(read()):
        path.write_text(text, "utf-8")
        print(f"written: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
