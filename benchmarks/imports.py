"""`python -c 'import ...'`: the time and memory of the import of each package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from benchmarks.bench import Bench, Bursts
from benchmarks.contenders import PEGBOARD, SDK, Contender
from benchmarks.start import BASELINES, ready

NAME: Final = "import"
CASE: Final = "python -c"


def run(bench: Bench) -> None:
    """Measure."""

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        codes = dict(contender.imports) | (BASELINES if contender.name == PEGBOARD else {})
        yield {(CASE, what): partial(ready, bench, contender, code) for what, code in codes.items()}

    bench.measure(NAME, (PEGBOARD, SDK), prepare)
