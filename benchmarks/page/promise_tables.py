"""The tables of promises: the missed ones by their goals, and all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from benchmarks import calls, data, memory, start
from benchmarks.http import auth, mounted_calls
from benchmarks.http import calls as http_calls
from benchmarks.page.figures import name_of
from benchmarks.results import Promise

TITLES: Final = {
    start.NAME: "start",
    calls.NAME: "call over stdio",
    http_calls.NAME: "call over HTTP",
    auth.NAME: "call over HTTP with a token",
    memory.NAME: "memory",
    mounted_calls.NAME: "call of a mounted tool",
    data.NAME: "call with 9,000 objects",
}
"""Scenarios in words, where their names are short."""


def missed_goals(promises: Sequence[Promise]) -> list[str]:
    """Return the goals with a missed promise, the largest excess first. Each row names all its missed promises."""
    missed = [promise for promise in promises if not promise.kept]
    if not missed:
        return [f"All {len(promises)} promises are kept."]
    goals = [tuple(same) for _, same in groupby(sorted(missed, key=_goal), _goal)]
    return [
        f"{len(promises) - len(missed)} of {len(promises)} promises are kept, and {len(missed)} are missed:\n",
        "| missed | cases | goal: at most | measured | over the goal | best other framework |",
        "|---|---|--:|--:|--:|---|",
        *(_row(goal) for goal in sorted(goals, key=lambda goal: -max(map(_excess, goal)))),
    ]


def kept_and_missed(promises: Iterable[Promise]) -> list[str]:
    """Return a table of the missed promises and one of the others."""
    groups = {
        title: [each for each in promises if each.kept == kept] for title, kept in (("Missed", False), ("Kept", True))
    }
    return ["\n".join((f"## {title}\n", *_table(group), "")) for title, group in groups.items() if group]


def _goal(promise: Promise) -> tuple[str, str, float, str]:
    return promise.scenario, promise.contender, promise.limit, promise.unit


def _excess(promise: Promise) -> float:
    """Return the part by which a value exceeds its limit."""
    return promise.measured.median / promise.limit - 1


def _row(goal: Sequence[Promise]) -> str:
    first = goal[0]
    title = TITLES.get(first.scenario, first.scenario)
    peers = [each.peer for each in goal if each.peer]
    names = " or ".join(dict.fromkeys(name_of(peer.name) for peer in peers))
    cells = (
        f"{title}: {name_of(first.contender)}" if first.contender else title,
        "; ".join(each.case for each in goal),
        f"{first.limit:.3g} {_unit(first)}",
        _range([each.measured.median for each in goal], ".3g"),
        f"{_range([100 * _excess(each) for each in goal], '.2g')} %",
        f"{names}: {_range([peer.value for peer in peers], '.3g')}" if peers else "not measured",
    )
    return f"| {' | '.join(cells)} |"


def _unit(promise: Promise) -> str:
    return f"times {name_of(promise.unit.removeprefix('x '))}" if promise.is_ratio else promise.unit


def _range(values: Sequence[float], form: str) -> str:
    """Return the least and the largest value, or one text if both look the same."""
    return " to ".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


def _table(promises: Iterable[Promise]) -> Iterator[str]:
    yield "| promise | measured | quartiles | at most | best other framework |"
    yield "|---|--:|--:|--:|---|"
    for promise in promises:
        value = promise.measured
        cells = (
            f"{promise.scenario} {promise.subject}",
            f"{value.median:.3g}",
            " to ".join(f"{quartile:.3g}" for quartile in value.quartiles),
            f"{promise.limit:.3g} {promise.unit}",
            f"{promise.peer.name} {promise.peer.value:.3g}" if promise.peer else "",
        )
        yield f"| {' | '.join(cells)} |"
