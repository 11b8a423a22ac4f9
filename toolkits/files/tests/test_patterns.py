"""Regular expressions and globs: what they mean, what is refused, and that none of them takes long."""

import pytest

from toolkit_files.patterns import Globs, compile_glob, compile_regex
from toolkit_files.problems import FileProblem

PIECE = "a" * 8192


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$b",
        r"(a|a)*b",
        r"(a|aa)+$b",
        r"(.*a){20}b",
        r".*.*.*.*.*=",
        r"(a?){50}a{50}b",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(\w+\s?)*:",
        r"a.{490}b",
    ],
)
def test_patterns_that_hang_a_backtracking_engine_end_here(pattern: str) -> None:
    assert not compile_regex(pattern)(PIECE)


def test_a_long_pattern_without_counted_repeats_is_fine() -> None:
    assert compile_regex("a" * 1000)("a" * 1000)


@pytest.mark.timeout(20)
def test_globs_that_hang_a_backtracking_engine_end_here() -> None:
    assert not compile_glob("*a" * 60 + "b")("a" * 255)
    assert not compile_glob("**/" * 100 + "b")("a/" * 120)


@pytest.mark.parametrize("glob", ["?" * 999, "{" + ",".join(["a" * 60] * 16) + "}" + "*?" * 10])
def test_a_glob_that_becomes_too_large_is_refused(glob: str) -> None:
    with pytest.raises(FileProblem, match="too large"):
        compile_glob(glob)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a(b", "unclosed group.*leave regex off"),
        ("[z-a]", "invalid character class range"),
        ("*", "repetition operator"),
        (r"a(?=b)", "Look-ahead"),
        (r"(?<!a)b", "Look-ahead"),
        (r"(a)\1", "Back-references"),
        ("(?x)a b", "flag x is not supported"),
        ("(?i-sx: a)" * 2 + "(?ix:a)", "flag x is not supported"),
        ("(" * 400 + ")" * 400, "not a valid regular expression"),
        ("", "1 to 1000"),
        ("a" * 1001, "1 to 1000"),
    ],
)
def test_a_wrong_pattern_is_explained_in_one_line(pattern: str, reason: str) -> None:
    with pytest.raises(FileProblem, match=reason) as caught:
        compile_regex(pattern)
    assert "\n" not in caught.value.message
    assert caught.value.mendable


def test_case_is_ignored_when_asked() -> None:
    assert not compile_regex("straße")("STRASSE STRAẞE")
    assert compile_regex("straße", ignore_case=True)("STRAẞE")
    assert compile_glob("readme*", ignore_case=True)("README.md")
    assert not compile_glob("readme*")("README.md")


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("*.py", "a.py\n", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]]x", "]x", True),
        ("[x", "[x", True),
        ("[a&&b]", "&", True),
        ("a.b", "axb", False),
        ("a+(b)|c$", "a+(b)|c$", True),
        ("*.{ts,tsx}", "x.tsx", True),
        ("*.{ts,tsx}", "x.js", False),
        ("{a,b{c,d}}.txt", "bd.txt", True),
        ("a}b{", "a}b{", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test_*", "test_a", True),
        ("**/test_*", "x/y/test_a", True),
        ("src/**", "src/x/y", True),
        ("src/**", "src", False),
        ("/top", "top", True),
        ("/top", "below/top", False),
        ("build/", "x/build", True),
        ("äöü*", "äöü.txt", True),
        ("*", "", True),
    ],
)
def test_what_globs_match(glob: str, path: str, expected: bool) -> None:
    assert compile_glob(glob)(path) is expected


@pytest.mark.parametrize("glob", ["", "/", "a" * 1001, "{a,b}" * 7, "[z-a]"])
def test_a_wrong_glob_is_refused(glob: str) -> None:
    with pytest.raises(FileProblem, match="glob"):
        compile_glob(glob)


def test_several_globs_match_a_path_or_a_directory_above_it() -> None:
    globs = Globs([".git", "*.pem", "secrets/*.txt"])
    assert globs.match((".git", "config"))
    assert globs.match(("a", "KEY.PEM"))
    assert globs.match(("secrets", "a.txt"))
    assert not globs.match(("other", "secrets", "a.txt"))
    assert not globs.match(("git", "config"))
    assert not Globs([]).match(("a",))
    assert not globs.match_last((".git", "config"))
