"""Names of tools and plugins in every spelling, and versions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Toolkit
from pegboard.names import (
    Patterns,
    check_wire_name,
    nearest,
    normal_version,
    normalise,
    spellings,
    wire_name,
)
from pegboard.plugin import PluginError
from tests.host.hosting import make_host


@pytest.mark.parametrize(
    ("toolkit", "tool", "snake", "pascal"),
    [
        ("github", "list_issues", "github_list_issues", "Github_ListIssues"),
        ("github", "ListIssues", "github_list_issues", "Github_ListIssues"),
        ("my-kit", "readHTTPPage", "my_kit_read_http_page", "MyKit_ReadHttpPage"),
    ],
)
def test_wire_names_in_both_styles(toolkit: str, tool: str, snake: str, pascal: str) -> None:
    assert wire_name(toolkit, tool) == snake
    assert wire_name(toolkit, tool, "pascal") == pascal
    assert wire_name("", tool, "pascal", prefix=False) == tool


@pytest.mark.requirement("TOOL-02", "TOOL-03", "TOOL-04")
def test_a_wire_name_is_checked() -> None:
    assert [check_wire_name(name) for name in ("a", "A-b_9", "x" * 64)] == [None] * 3
    for name, words in {"": "empty", "a.b": "'.'", "a b": "' '", "grüße": "'ü'", "x" * 65: "65", "a\n": r"\n"}.items():
        assert words in (check_wire_name(name) or "")


@pytest.mark.parametrize(
    "pattern",
    [
        "github_delete_repo",
        "Github::DeleteRepo",
        "github.deleterepo",
        "GITHUB_DELETEREPO",
        "  Github :: DeleteRepo ",
        "github_delete_*",
        "Github::Delete*",
        "*_delete_*",
        "github_[a-f]*",
    ],
)
def test_every_spelling_matches_the_tool(pattern: str) -> None:
    assert Patterns([pattern]).match(spellings("github", "delete_repo"))


@pytest.mark.parametrize(
    "pattern",
    ["github_delete", "delete_repo", "git_*", "github_[g-z]*", "Github:DeleteRepo", "", "github::", "hub_delete_repo"],
)
def test_patterns_of_other_tools_do_not_match(pattern: str) -> None:
    assert not Patterns([pattern]).match(spellings("github", "delete_repo"))


def test_a_glob_for_one_toolkit_does_not_match_others() -> None:
    assert Patterns(["files_*"]).match(spellings("files", "read"))
    assert not Patterns(["files_*", "Files.*"]).match(spellings("filesystem", "read"))
    assert not Patterns(["Files::*"]).match(spellings("files_extra", "read"))


def test_toolkits_are_matched_in_any_spelling_and_tools_without_prefix_by_their_names() -> None:
    for pattern in ("my_kit.add", "MyKit.Add", "mykit_add", "my-kit::add", "MYKIT.ADD", "My_Kit_Add"):
        for toolkit in ("my_kit", "my-kit", "MyKit"):
            assert Patterns([pattern]).match(spellings(toolkit, "add"))
    for pattern in ("getWeather", "get_weather", "GETWEATHER", "get-weather", "get*"):
        assert Patterns([pattern]).match(spellings("", "getWeather"))


_NAME = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)


@given(toolkit=_NAME, tool=_NAME)
def test_both_wire_names_are_spellings_and_every_spelling_is_in_normal_form(toolkit: str, tool: str) -> None:
    forms = spellings(toolkit, tool)
    assert {normalise(form) for form in forms} == set(forms)
    for style in ("snake", "pascal"):
        for joined in (name := wire_name(toolkit, tool, style), name.swapcase()):
            assert normalise(joined) in forms


def test_the_matching_pattern_and_the_unmatched_patterns_are_known() -> None:
    patterns = Patterns(["githbu_*", "Github::DeleteRepo", "files_*"])
    known = spellings("github", "delete_repo") | spellings("math", "add")
    assert patterns.which(spellings("github", "delete_repo")) == "Github::DeleteRepo"
    assert patterns.unmatched(known) == ("githbu_*", "files_*")
    assert patterns.unmatched(known, absent=["files"]) == ("githbu_*",)


def test_plugins_are_matched_by_name_glob_and_distribution() -> None:
    hits = ["acme", "ACME", "ac*", "acme_tools:acme", "Acme.Tools:*", "acme-*:ac?e", "* : acme"]
    others = ["other:acme", "acme-tools:other", "acme-tools", ":acme"]
    assert [one for one in hits + others if Patterns([one]).match_plugin("acme", "acme-tools")] == hits
    assert not Patterns(["acme-tools:acme"]).match_plugin("acme")
    assert Patterns(["d:a_b_c"]).match_plugin("a.b-c", "d")


def test_the_nearest_name_is_found_in_any_case_and_order() -> None:
    assert nearest("Prot", ["host", "port", "path"]) == "port"
    assert nearest("zzz", ["host", "port"]) is None
    assert nearest("part", ["port", "pert"]) == nearest("part", ["pert", "port"])
    known = spellings("github", "delete_repo") | spellings("files", "read")
    assert nearest("githbu_*", known) == "github_*"
    assert nearest("*", known) is None


# --- versions


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("1.2.3", "1.2.3"),
        ("v1", "1.0.0"),
        ("1.2.3-alpha-1.0+build.5", "1.2.3-alpha-1.0+build.5"),
        ("1+5", "1.0.0+5"),
    ],
)
def test_a_version_has_three_numbers(given: str, normal: str) -> None:
    assert normal_version(given) == normal
    assert normal_version(normal) == normal


@pytest.mark.parametrize(
    "given",
    ["", "v", "1.2.3.4", "01.2", "1.2.3rc1", "1.2.3-", "1.2\n", "\u0661.2", 1.2],
)
def test_an_invalid_version_is_rejected_with_an_example(given: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{given!r} is not a version; write it like 1.2.3")):
        normal_version(given)


def work() -> str:
    """Work."""
    return ""


async def test_a_tool_has_its_own_version_or_the_version_of_its_toolkit() -> None:
    kit, other = Toolkit("x", version="v1.2"), Toolkit("y")
    kit.tool(work)
    kit.tool(name="own", version="3")(work)
    other.tool(work)
    async with make_host(kit, other) as host:
        assert host.problems == ()
        tools = {name: (one.tool.version, one.tool.meta) for name, one in host.assembly.tools.items()}
    assert tools == {
        "x_own": ("3.0.0", {"pegboard/version": "3.0.0"}),
        "x_work": ("1.2.0", None),
        "y_work": (None, None),
    }


def test_an_invalid_version_disables_the_tool() -> None:
    kit = Toolkit("x")
    kit.tool(version="newest")(work)
    assembly = make_host(kit).load()
    assert assembly.tools == {}
    assert "its version: 'newest' is not a version; write it like 1.2.3" in str(assembly.problems[0])


async def test_an_invalid_version_disables_the_toolkit() -> None:
    with pytest.raises(PluginError, match=r"toolkit 'x'.*its version: 'latest' is not a version"):
        await make_host(Toolkit("x", version="latest")).start()
