"""Names of tools and plugins in every spelling, and versions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.names import (
    Patterns,
    check_wire_name,
    normal_version,
    spellings,
    toolkit_spellings,
    wire_name,
    without_toolkit,
)
from tests.host.hosting import make_host, work


@pytest.mark.parametrize(
    ("toolkit", "tool", "snake", "pascal"),
    [
        ("github", "ListIssues", "github_list_issues", "Github_ListIssues"),
        ("my-kit", "readHTTPPage", "my_kit_read_http_page", "MyKit_ReadHttpPage"),
        ("acme.tools", "add2", "acme_tools_add2", "AcmeTools_Add2"),
        ("files", "_hidden", "files_hidden", "Files_Hidden"),
    ],
)
def test_wire_names_in_both_styles(toolkit: str, tool: str, snake: str, pascal: str) -> None:
    assert wire_name(toolkit, tool) == snake
    assert wire_name(toolkit, tool, "pascal") == pascal
    assert wire_name("", tool, "pascal", prefix=False) == tool


def test_an_author_may_write_the_name_of_the_toolkit() -> None:
    written = {"MyKit_Add": "Add", "mykit_add": "add", "MyKit_": "MyKit_", "MyKitAdd": "MyKitAdd", "my_kit": "my_kit"}
    assert {name: without_toolkit("my_kit", name) for name in written} == written


@pytest.mark.requirement("TOOL-02", "TOOL-03", "TOOL-04")
def test_a_wire_name_is_checked() -> None:
    assert [check_wire_name(name) for name in ("a", "A-b_9", "x" * 64)] == [None] * 3
    for name, words in {"": "empty", "a.b": "'.'", "a b": "' '", "grüße": "'ü'", "x" * 65: "65", "a\n": r"\n"}.items():
        assert words in (check_wire_name(name) or "")


DELETE_REPO = spellings("github", "delete_repo")
MATCHING = """
github_delete_repo Github_DeleteRepo Github::DeleteRepo GitHub.delete_repo github.deleterepo GITHUB_DELETEREPO
GITHUB_DELETE_REPO github-delete-repo github_delete_* Github::Delete* Github.* *_delete_* *.DeleteRepo github_[a-f]*
github_delete_rep?
"""
OTHERS = "github_delete delete_repo git_* github_[g-z]* Github:DeleteRepo github:: hub_delete_repo"


def test_every_spelling_and_no_pattern_of_another_tool_matches_a_tool() -> None:
    patterns = [*MATCHING.split(), "  Github :: DeleteRepo ", "github . delete_repo"]
    assert [pattern for pattern in patterns if not Patterns([pattern]).match(DELETE_REPO)] == []
    assert [pattern for pattern in ["", *OTHERS.split()] if Patterns([pattern]).match(DELETE_REPO)] == []
    assert not Patterns(["files_*", "Files.*"]).match(spellings("filesystem", "read"))


def test_toolkits_are_matched_in_any_spelling_and_tools_without_prefix_by_their_names() -> None:
    for pattern in ("my_kit.add", "MyKit.Add", "mykit_add", "my-kit::add"):
        for toolkit in ("my_kit", "my-kit", "MyKit"):
            assert Patterns([pattern]).match(spellings(toolkit, "add"))
    for pattern in ("getWeather", "get_weather", "GETWEATHER", "get-weather", "get*"):
        assert Patterns([pattern]).match(spellings("", "getWeather"))
    assert "my_kit" in toolkit_spellings("My-Kit")


def test_the_matching_pattern_and_the_unmatched_patterns_are_known() -> None:
    patterns = Patterns(["githbu_*", "Github::DeleteRepo", "files_*"])
    assert patterns.which(DELETE_REPO) == "Github::DeleteRepo"
    assert patterns.unmatched(DELETE_REPO | spellings("math", "add")) == ("githbu_*", "files_*")
    assert Patterns(["Git-Hub::Delete*", "git_hub_x", "gitlab_x"]).unmatched([], absent=["git-hub"]) == ("gitlab_x",)


def test_plugins_are_matched_by_name_glob_and_distribution() -> None:
    hits = ["acme", "ACME", "ac*", "acme_tools:acme", "Acme.Tools:*", "acme-*:ac?e", "* : acme"]
    others = ["other:acme", "acme-tools:other", "acme-tools", ":acme"]
    assert [pattern for pattern in hits + others if Patterns([pattern]).match_plugin("acme", "acme-tools")] == hits
    assert not Patterns(["acme-tools:acme"]).match_plugin("acme")
    assert Patterns([":acme"]).match_plugin("acme")
    assert Patterns(["d:a_b_c"]).match_plugin("a.b-c", "d")
    patterns = Patterns(["math", "acme:*", "maths"])
    assert patterns.unmatched_plugins([("math", "toolkit-math"), ("x", "acme")]) == ("maths",)
    assert patterns.which_plugin("x", "acme") == "acme:*"


@pytest.mark.parametrize(
    "version", ["", "v", "1.2.3.4", "01.2", "1.2.3rc1", "1.2.3-", "1..2", " 1.2", "1.2\n", "\u0661.2", 1.2, None]
)
def test_an_invalid_version_is_rejected_with_an_example(version: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{version!r} is not a version; write it like 1.2.3")):
        normal_version(version)


def test_a_tool_has_its_own_version_or_the_version_of_its_toolkit() -> None:
    kit, other = Toolkit("x", version="v1.2"), Toolkit("y")
    for toolkit in (kit, other):
        toolkit.tool(work)
    kit.tool(name="own", version="3")(work)
    kit.tool(name="bad", version="newest")(work)
    host = make_host(kit, other)
    assert {name: (tool.tool.version, tool.tool.meta) for name, tool in host.load().tools.items()} == {
        "x_own": ("3.0.0", {"pegboard/version": "3.0.0"}),
        "x_work": ("1.2.0", None),
        "y_work": (None, None),
    }
    (problem,) = host.problems
    line = f"tool 'bad' ({work.__code__.co_filename}:{work.__code__.co_firstlineno})"
    assert f"{line}: its version: 'newest' is not a version; write it like 1.2.3" in str(problem)
