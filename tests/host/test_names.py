"""Names of tools and plugins, and every way a person may spell them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.names import Patterns, check_wire_name, nearest, normalise, spellings, toolkit_spellings, wire_name


@pytest.mark.parametrize(
    ("toolkit", "tool", "snake", "pascal"),
    [
        ("github", "list_issues", "github_list_issues", "Github_ListIssues"),
        ("github", "ListIssues", "github_list_issues", "Github_ListIssues"),
        ("my-kit", "readHTTPPage", "my_kit_read_http_page", "MyKit_ReadHttpPage"),
        ("acme.tools", "add2", "acme_tools_add2", "AcmeTools_Add2"),
        ("files", "_hidden", "files_hidden", "Files_Hidden"),
    ],
)
def test_wire_names_in_both_styles(toolkit: str, tool: str, snake: str, pascal: str) -> None:
    assert wire_name(toolkit, tool) == snake
    assert wire_name(toolkit, tool, "pascal") == pascal


def test_a_name_without_prefix_goes_out_exactly_as_it_is() -> None:
    assert wire_name("", "get-Weather_now", "pascal", prefix=False) == "get-Weather_now"


@pytest.mark.requirement("TOOL-02", "TOOL-03", "TOOL-04")
def test_a_wire_name_is_checked() -> None:
    assert [check_wire_name(name) for name in ("a", "A-b_9", "x" * 64)] == [None] * 3
    for name, words in {"": "empty", "a.b": "'.'", "a b": "' '", "grüße": "'ü'", "x" * 65: "65", "a\n": r"\n"}.items():
        assert words in (check_wire_name(name) or "")


@pytest.mark.parametrize(
    "pattern",
    [
        "github_delete_repo",
        "Github_DeleteRepo",
        "Github::DeleteRepo",
        "GitHub.delete_repo",
        "Github.DeleteRepo",
        "github.deleterepo",
        "GITHUB_DELETEREPO",
        "GITHUB_DELETE_REPO",
        "github-delete-repo",
        "  Github :: DeleteRepo ",
        "github . delete_repo",
        "github_delete_*",
        "Github::Delete*",
        "Github.*",
        "*_delete_*",
        "*.DeleteRepo",
        "github_[a-f]*",
        "github_delete_rep?",
    ],
)
def test_every_spelling_matches_the_tool(pattern: str) -> None:
    assert Patterns([pattern]).match(spellings("github", "delete_repo"))


@pytest.mark.parametrize(
    "pattern",
    ["github_delete", "delete_repo", "git_*", "github_[g-z]*", "Github:DeleteRepo", "", "github::", "hub_delete_repo"],
)
def test_what_names_something_else_does_not_find_it(pattern: str) -> None:
    assert not Patterns([pattern]).match(spellings("github", "delete_repo"))


def test_a_glob_for_one_toolkit_leaves_its_namesakes_alone() -> None:
    assert Patterns(["files_*"]).match(spellings("files", "read"))
    assert not Patterns(["files_*", "Files.*"]).match(spellings("filesystem", "read"))
    assert not Patterns(["Files::*"]).match(spellings("files_extra", "read"))


@pytest.mark.parametrize("pattern", ["my_kit.add", "MyKit.Add", "mykit_add", "my-kit::add", "MYKIT.ADD", "My_Kit_Add"])
@pytest.mark.parametrize("toolkit", ["my_kit", "my-kit", "MyKit"])
def test_the_toolkits_own_spelling_does_not_matter(toolkit: str, pattern: str) -> None:
    assert Patterns([pattern]).match(spellings(toolkit, "add"))


@pytest.mark.parametrize("pattern", ["getWeather", "get_weather", "GETWEATHER", "get-weather", "get*"])
def test_a_tool_without_prefix_is_found_by_its_own_name(pattern: str) -> None:
    assert Patterns([pattern]).match(spellings("", "getWeather"))


_NAME = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)


@given(toolkit=_NAME, tool=_NAME)
def test_both_wire_names_are_spellings_and_every_spelling_is_in_normal_form(toolkit: str, tool: str) -> None:
    forms = spellings(toolkit, tool)
    assert {normalise(form) for form in forms} == set(forms)
    for style in ("snake", "pascal"):
        for joined in (name := wire_name(toolkit, tool, style), name.swapcase()):
            assert normalise(joined) in forms


def test_patterns_tell_which_of_them_hit_and_which_hit_nothing() -> None:
    patterns = Patterns(["githbu_*", "Github::DeleteRepo", "files_*"])
    known = spellings("github", "delete_repo") | spellings("math", "add")
    assert patterns.which(spellings("github", "delete_repo")) == "Github::DeleteRepo"
    assert patterns.unmatched(known) == ("githbu_*", "files_*")


def test_patterns_for_toolkits_that_were_not_loaded_are_not_called_unmatched() -> None:
    patterns = Patterns(["Git-Hub::Delete*", "git_hub_x", "gitlab_x"])
    assert patterns.unmatched([], absent=["git-hub"]) == ("gitlab_x",)


def test_no_patterns_match_nothing() -> None:
    assert not Patterns()
    assert not Patterns().match(spellings("github", "delete_repo"))
    assert Patterns(["*"])


@pytest.mark.parametrize(
    ("pattern", "hits"),
    [
        ("acme", True),
        ("ACME", True),
        ("ac*", True),
        ("acme_tools:acme", True),
        ("Acme.Tools:*", True),
        ("acme-*:ac?e", True),
        ("* : acme", True),
        ("other:acme", False),
        ("acme-tools:other", False),
        ("acme-tools", False),
        (":acme", False),
    ],
)
def test_plugins_go_by_name_glob_or_distribution(pattern: str, hits: bool) -> None:
    assert Patterns([pattern]).match_plugin("acme", "acme-tools") is hits


def test_a_plugin_without_distribution_is_not_found_under_one() -> None:
    assert not Patterns(["acme-tools:acme"]).match_plugin("acme")
    assert Patterns([":acme"]).match_plugin("acme")


def test_plugin_names_with_dots_and_hyphens() -> None:
    assert Patterns(["a.b-c"]).match_plugin("a.b-c", "d")
    assert Patterns(["d:a_b_c"]).match_plugin("a.b-c", "d")
    assert "my_kit" in toolkit_spellings("My-Kit")


def test_plugin_patterns_that_name_nothing_are_told() -> None:
    patterns = Patterns(["math", "acme:*", "maths"])
    assert patterns.unmatched_plugins([("math", "toolkit-math"), ("x", "acme")]) == ("maths",)
    assert patterns.which_plugin("x", "acme") == "acme:*"


def test_nearest_finds_what_was_meant_whatever_the_case() -> None:
    assert nearest("Prot", ["host", "port", "path"]) == "port"
    assert nearest("zzz", ["host", "port"]) is None
    assert nearest("x", []) is None


def test_nearest_mends_the_beginning_of_a_glob() -> None:
    known = spellings("github", "delete_repo") | spellings("files", "read")
    assert nearest("githbu_*", known) == "github_*"
    assert nearest("Githbu::*", known) == "github.*"
    assert nearest("*", known) is None


def test_nearest_does_not_depend_on_the_order_of_candidates() -> None:
    assert nearest("part", ["port", "pert"]) == nearest("part", ["pert", "port"])
