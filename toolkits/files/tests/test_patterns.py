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
        r"(a|aa)+$b",
        r".*.*.*.*.*=",
        r"(a?){50}a{50}b",
        r"a.{490}b",
    ],
)
def test_patterns_that_hang_a_backtracking_engine_end_here(pattern: str) -> None:
    assert not compile_regex(pattern)(PIECE)


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
        (r"a(?=b)", "Look-ahead"),
        (r"(a)\1", "Back-references"),
        ("(?x)a b", "flag x is not supported"),
        ("(" * 400 + ")" * 400, "not a valid regular expression"),
        ("", "1 to 1000"),
        ("a" * 1001, "1 to 1000"),
    ],
)
def test_a_wrong_pattern_is_explained_in_one_line(pattern: str, reason: str) -> None:
    with pytest.raises(FileProblem, match=reason) as caught:
        compile_regex(pattern)
    assert "\n" not in caught.value.message
    assert caught.value.correctable


def test_case_is_ignored_when_asked() -> None:
    assert not compile_regex("straße")("STRASSE STRAẞE")
    assert compile_regex("straße", ignore_case=True)("STRAẞE")
    assert compile_glob("readme*", ignore_case=True)("README.md")
    assert not compile_glob("readme*")("README.md")


MATCHES = {
    "*.py": "a.py deep/down/a.py",
    "[a-c]x": "bx",
    "[]]x": "]x",
    "[a&&b]": "&",
    "a+(b)|c$": "a+(b)|c$",
    "*.{ts,tsx}": "x.tsx",
    "{a,b{c,d}}.txt": "bd.txt",
    "src/**/*.py": "src/a.py src/x/y/a.py",
    "**/test_*": "test_a x/y/test_a",
    "src/**": "src/x/y",
    "/top": "top",
    "build/": "x/build",
}
OTHERS = {
    "*.py": "a.pyc a.py\n",
    "a?c": "a/c",
    "[!a-c]x": "bx",
    "a.b": "axb",
    "src/*.py": "src/deep/a.py other/src/a.py",
    "src/**": "src",
    "/top": "below/top",
}


def test_globs() -> None:
    for globs, expected in ((MATCHES, True), (OTHERS, False)):
        for glob, names in globs.items():
            assert all(compile_glob(glob)(name) is expected for name in names.split(" ")), glob


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
