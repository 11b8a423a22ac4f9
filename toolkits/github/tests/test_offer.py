"""What is offered: names, annotations, schemas; what is not, until the operator says so."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard import Authorization, Classification, Host, ToolResult
from pegboard.plugin import AuthorizationRequiredError
from pegboard.types import Call, Failure, Supplied, Tool
from pegboard_plugins.auth_providers import GitHub
from toolkit_github import GithubConfig
from toolkits.github.tests.support.description import operations
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer
from toolkits.github.tests.support.storage import Storage

REPO = "octocat/Hello-World"
Calls = dict[str, tuple[dict[str, Any], list[str]]]
"""Tools, each with arguments of a call and the operations that it takes."""

READING: Calls = {
    "whoami": ({}, ["users/get-authenticated"]),
    "list_notifications": ({"all": True}, ["activity/list-notifications-for-authenticated-user"]),
    "search_repositories": ({"query": "hello"}, ["search/repos"]),
    "list_repositories": ({"owner": "octocat"}, ["repos/list-for-user"]),
    "get_repository": ({"repo": REPO}, ["repos/get"]),
    "list_branches": ({"repo": REPO}, ["repos/list-branches"]),
    "list_commits": ({"repo": REPO}, ["repos/list-commits"]),
    "get_commit": ({"repo": REPO, "commit": "main"}, ["repos/get-commit"]),
    "list_directory": ({"repo": REPO}, ["repos/get-content"]),
    "get_file": ({"repo": REPO, "path": "README.md"}, ["repos/get-content"]),
    "search_code": ({"query": "hello"}, ["search/code"]),
    "list_issues": ({"repo": REPO}, ["issues/list-for-repo"]),
    "search_issues": ({"query": "bug is:issue"}, ["search/issues-and-pull-requests"]),
    "get_issue": ({"repo": REPO, "number": 1347}, ["issues/get"]),
    "list_comments": ({"repo": REPO, "number": 1347}, ["issues/list-comments"]),
    "list_pull_requests": ({"repo": REPO}, ["pulls/list"]),
    "get_pull_request": ({"repo": REPO, "number": 12}, ["pulls/get"]),
    "list_pull_request_files": ({"repo": REPO, "number": 12}, ["pulls/list-files"]),
    "list_reviews": ({"repo": REPO, "number": 12}, ["pulls/list-reviews"]),
    "list_review_comments": ({"repo": REPO, "number": 12}, ["pulls/list-review-comments"]),
    "list_checks": ({"repo": REPO, "ref": "main"}, ["checks/list-for-ref"]),
    "list_workflow_runs": ({"repo": REPO}, ["actions/list-workflow-runs-for-repo"]),
    "list_workflow_jobs": ({"repo": REPO, "run_id": 30433642}, ["actions/list-jobs-for-workflow-run"]),
    "get_job_log": ({"repo": REPO, "job_id": 399444496}, ["actions/download-job-logs-for-workflow-run"]),
    "list_releases": ({"repo": REPO}, ["repos/list-releases"]),
    "get_release": ({"repo": REPO, "tag": "v1.0.0"}, ["repos/get-release-by-tag"]),
}
ADDING: Calls = {
    "create_issue": ({"repo": REPO, "title": "x"}, ["issues/create"]),
    "add_comment": ({"repo": REPO, "number": 1347, "body": "x"}, ["issues/create-comment"]),
    "create_pull_request": ({"repo": REPO, "title": "x", "head": "feature/x", "base": "main"}, ["pulls/create"]),
    "review_pull_request": ({"repo": REPO, "number": 12, "event": "COMMENT", "body": "x"}, ["pulls/create-review"]),
    "request_reviewers": ({"repo": REPO, "number": 12, "reviewers": ["a"]}, ["pulls/request-reviewers"]),
    "create_branch": ({"repo": REPO, "name": "new"}, ["repos/get-commit", "git/create-ref"]),
    "rerun_workflow": ({"repo": REPO, "run_id": 30433642}, ["actions/re-run-workflow-failed-jobs"]),
    "create_release": ({"repo": REPO, "tag": "v2"}, ["repos/create-release"]),
}
CHANGING: Calls = {
    "update_issue": ({"repo": REPO, "number": 1347, "state": "closed"}, ["issues/update"]),
    "merge_pull_request": ({"repo": REPO, "number": 12}, ["pulls/merge"]),
    "write_file": (
        {"repo": REPO, "path": "new.txt", "content": "x", "message": "m"},
        ["repos/create-or-update-file-contents"],
    ),
    "delete_file": (
        {"repo": REPO, "path": "README.md", "sha": "fec56017dc1b1ac87ad6e54e3cb3a20bb8dcc5ab", "message": "m"},
        ["repos/delete-file"],
    ),
}
ALL = READING | ADDING | CHANGING
ELSEWHERE = {
    "actions/re-run-workflow",
    "git/get-blob",
    "repos/get-latest-release",
    "repos/list-for-authenticated-user",
}
"""Operations that a tool uses with other arguments than these; the tests of that tool show it."""


def offered(served: Served) -> dict[str, Tool]:
    return {name: bound.tool for name, bound in served.host.assembly.tools.items()}


async def test_reading_is_offered_and_changing_only_once_it_is_allowed(serve: Serve) -> None:
    assert set(offered(await serve())) == {f"github_{name}" for name in READING}
    assert set(offered(await serve(write=True))) == {f"github_{name}" for name in ALL}


async def test_every_operation_that_was_cut_out_is_used() -> None:
    assert {name for _, used in ALL.values() for name in used} | ELSEWHERE == set(operations())


@pytest.mark.parametrize("tool", ALL)
async def test_each_tool_asks_what_github_describes_and_understands_the_answer(
    tool: str, tools: Served, github: GithubServer, storage: Storage
) -> None:
    storage.files["/logs/399444496"] = b"2026-01-02T03:04:05.6789012Z done\n"
    arguments, used = ALL[tool]
    assert await tools.call(tool, **arguments)
    assert github.operations() == used


@pytest.mark.parametrize(
    ("names", "read_only", "destructive"),
    [
        (READING, True, None),
        (ADDING, False, False),
        (CHANGING, False, True),
    ],
)
async def test_annotations_say_what_a_tool_may_do(
    names: Calls, read_only: bool, destructive: bool | None, serve: Serve
) -> None:
    served = await serve(write=True)
    for name in names:
        annotations = offered(served)[f"github_{name}"].annotations
        assert annotations is not None
        assert (annotations.read_only, annotations.destructive) == (read_only, destructive)
        assert annotations.open_world is True


async def test_each_tool_requires_a_token_that_allows_what_it_does_and_no_more(tools: Served) -> None:
    others = {
        "whoami": (),
        "list_notifications": ("notifications",),
        "write_file": ("repo", "workflow"),
        "delete_file": ("repo", "workflow"),
    }
    for name in ALL:
        required = offered(tools)[f"github_{name}"].requires
        assert required is not None
        assert required.authorization == GitHub(scopes=others.get(name, ("repo",)))
        assert (required.secrets, required.scopes) == ((), ())


async def test_metadata_says_what_a_tool_works_on_and_does(tools: Served) -> None:
    done: dict[str, set[str]] = {}
    for name in ALL:
        metadata = offered(tools)[f"github_{name}"].metadata
        assert metadata is not None
        assert metadata.classification == Classification(("source_code",))
        assert metadata.behavior is not None
        for operation in metadata.behavior.operations:
            done.setdefault(operation, set()).add(name)
    assert done["read"] == set(READING)
    assert done["delete"] == {"delete_file"}
    updating = {"merge_pull_request", "request_reviewers", "rerun_workflow", "update_issue"}
    assert done["update"] == {"write_file", *updating}
    assert done["create"] == {*ADDING, *CHANGING} - updating - {"delete_file"}


async def test_every_tool_and_parameter_is_described_and_every_result_has_a_schema(tools: Served) -> None:
    clear = {"repo", "title", "body", "draft", "prerelease", "name", "labels", "state", "event", "branch", "sort"}
    clear |= {"direction", "method", "commit_title", "commit_message", "maintainer_can_modify", "all", "participating"}
    clear |= {"run_id", "job_id", "state_reason", "status"}
    for tool in offered(tools).values():
        assert tool.title, tool.name
        assert tool.description, tool.name
        assert tool.output_schema is not None, tool.name
        for name, schema in tool.input_schema["properties"].items():
            assert "description" in schema or name in clear, (tool.name, name)


async def test_without_a_token_the_tools_say_what_is_missing(serve: Serve, github: GithubServer) -> None:
    served = await serve(token="")
    unset = "the secret GITHUB_TOKEN is not set: set it in the environment"
    (problem,) = served.host.problems  # one for all tools
    assert unset in str(problem)
    error = await served.fail("whoami")
    assert error.message == f"Authorization required: this tool needs a token of GitHub, and there is none: {unset}."
    assert github.seen == []


async def test_a_request_may_bring_the_token_of_its_own_user(github: GithubServer, serve: Serve) -> None:
    served = await serve(token="ghp_wrong")
    own = Call("tools/call", {"name": "github_whoami"}, supplied=Supplied(Authorization(TOKEN), user_id="ann"))
    assert isinstance(await served.host.dispatch(own), ToolResult)
    assert github.operations() == ["users/get-authenticated"]


async def test_without_a_token_nothing_is_asked_even_where_tools_run_all_the_same(
    github: GithubServer, serve: Serve
) -> None:
    served = await serve(token="")
    lenient = Call("tools/call", {"name": "github_whoami"}, supplied=Supplied(lenient=True))
    outcome = await served.host.dispatch(lenient)
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, AuthorizationRequiredError)
    assert github.seen == []


@pytest.mark.parametrize("place", ["environment", ".env"])
async def test_the_first_command_needs_a_token_and_no_settings(
    place: str, github: GithubServer, tmp_path: Path
) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    variables = {**kept, "HOME": str(tmp_path), "PEGBOARD__TOOLKITS__GITHUB__BASE_URL": github.url}
    if place == "environment":
        variables["GITHUB_TOKEN"] = TOKEN
    else:
        (tmp_path / ".env").write_text(f"GITHUB_TOKEN={TOKEN}\n", "utf-8")
        (tmp_path / "own.toml").touch()
        variables["PEGBOARD_CONFIG"] = "own.toml"
    command = [sys.executable, "-m", "pegboard", "call", "github_whoami"]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, talk = await process.communicate()
    assert process.returncode == 0, talk
    assert b"octocat" in out
    assert b"TOKEN" not in talk


SCRIPT = """
import asyncio, sys
import toolkit_github
from pegboard import Host

assert not {"aiohttp", "yarl", "multidict"} & set(sys.modules), "imported with the toolkit"

async def main():
    async with Host({"host": {"autoload": False}, "toolkits": {"github": {}}}) as host:
        assert "github_whoami" in host.assembly.tools
        assert not {"aiohttp", "yarl", "multidict"} & set(sys.modules), "imported before the first request"

asyncio.run(main())
"""


def test_http_is_imported_with_the_first_request() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Error")) == (0, 0), done.stderr


async def test_two_hosts_in_one_program_have_settings_of_their_own(serve: Serve) -> None:
    reading, writing = await serve(), await serve(write=True)
    assert isinstance(reading.host, Host)
    assert len(offered(reading)) < len(offered(writing))


def test_the_readme_names_every_tool_and_every_setting_with_its_default() -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(github_\w+)`", text)) == {f"github_{name}" for name in ALL}
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    shown = tomllib.loads(block)["toolkits"]["github"]
    assert shown == GithubConfig().model_dump()
