"""Patterns of callers: how large one may become, and that no two are compiled or matched at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest

from toolkit_files import patterns
from toolkit_files.patterns import compile_glob, compile_regex, compile_text
from toolkit_files.problems import FileProblem
from toolkit_files.regex_size import MAX_COST, MAX_STATES, size_of


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}", 26),
        ("((a{10}){10}){10}", 1000),
        ("(a{3}b{2}){5}c", 26),
        ("a{2,}", 2),
        ("a{,3}", 3),
        ("a{2,9}+b*", 10),
        (r"\{5000}", 6),
        ("[{]5000}", 6),
        ("[[a]-z]{4}", 4),
        ("(?:a|b){4}", 12),
        (r"\x{41}{3}", 3),
        ("(?:){99999999999}", 999999999),
    ],
)
def test_counted_repeats_are_written_out_and_counted(pattern: str, states: int) -> None:
    assert size_of(pattern).states == states


@pytest.mark.parametrize(
    "pattern",
    [f"a{{{MAX_STATES + 1}}}", "(a{100}){100}", "((a{0,40}){0,40}){0,40}", "a{99999999999999999999}", r"\w{1000}"],
)
def test_large_counted_repeats_are_refused(pattern: str) -> None:
    with pytest.raises(FileProblem, match="counted repeats"):
        compile_regex(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"\w{30}", r"\w" * 30, r"[\pL\pN]{20}", r"(?:\w+\d+){25}", "[ -\U0010ffff]" * 2, r"[]\w]{30}", r"\D{200}"],
)
def test_what_takes_long_to_compile_is_refused(pattern: str) -> None:
    with pytest.raises(FileProblem, match="becomes too large"):
        compile_regex(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(def|class)\s+(\w+)",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b",
        r"[\w.+-]+@[\w-]+\.[\w.-]+",
        "a" * 1000,
        ".{490}",
    ],
)
def test_patterns_as_people_write_them_are_accepted(pattern: str) -> None:
    assert size_of(pattern).cost <= MAX_COST
    compile_regex(pattern, ignore_case=True)


@pytest.mark.parametrize("make", [compile_regex, compile_text, compile_glob])
@pytest.mark.parametrize("when", ["compiled", "matched"])
def test_patterns_are_compiled_and_matched_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[str], Callable[[str], bool]], when: str
) -> None:
    two = Barrier(2)

    def met() -> bool:
        """Return True if another thread comes here while this thread waits."""
        with suppress(BrokenBarrierError):
            return two.wait(0.2) >= 0
        return False

    def compiled(pattern: str) -> Callable[[str], bool]:
        result = met() if when == "compiled" else None
        return lambda text: met() if result is None else result

    monkeypatch.setattr(patterns, "_matcher", compiled)
    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(lambda number: make(f"{when}{number}[ab]")("text"), range(4)))
