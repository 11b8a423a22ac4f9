"""The offered tools: their requests and results, annotations, requirements, and the token that they act with."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard import Authorization, AuthorizationRequiredError, Classification, ToolResult
from pegboard.types import Call, Failure, Supplied, Tool
from pegboard_plugins.auth.auth_providers import GitHub
from toolkit_github import GithubConfig
from toolkits.github.tests.conftest import Serve, Served
from toolkits.github.tests.support.description import operations
from toolkits.github.tests.support.server import REPO, TOKEN, GithubServer, Storage

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = json.loads((Path(__file__).parent / "calls.json").read_text("utf-8"))
"""Calls of the tools with GitHub's examples as responses. `path` omits the owner and name of the repository."""
ADDING = {
    "create_issue", "add_comment", "create_pull_request", "review_pull_request", "request_reviewers", "create_branch",
    "rerun_workflow", "create_release",
}  # fmt: skip
CHANGING = {"update_issue", "merge_pull_request", "write_file", "delete_file"}
ALL = {case["tool"] for case in CALLS} | {"get_job_log"}
READING = ALL - ADDING - CHANGING
OTHER_SCOPES = {
    "whoami": (),
    "list_notifications": ("notifications",),
    "write_file": ("repo", "workflow"),
    "delete_file": ("repo", "workflow"),
}


def offered(served: Served) -> dict[str, Tool]:
    return {name.removeprefix("github_"): bound.tool for name, bound in served.host.assembly.tools.items()}


@pytest.mark.parametrize("case", CALLS, ids=[f"{number} {case['tool']}" for number, case in enumerate(CALLS)])
async def test_a_call_sends_these_requests_and_returns_this_result(
    case: dict[str, Any], tools: Served, github: GithubServer
) -> None:
    assert await tools.call(case["tool"], **case["arguments"]) == case["result"]
    sent = []
    for request in github.seen:
        path = {name: value for name, value in request.path.items() if name not in ("owner", "repo")}
        parts = {"path": path, "query": request.query, "body": request.body}
        sent.append({"operation": request.operation.id, **{name: part for name, part in parts.items() if part}})
    assert sent == case["requests"]


async def test_the_calls_cover_every_described_operation() -> None:
    called = {request["operation"] for case in CALLS for request in case["requests"]}
    assert called | {"git/get-blob", "actions/download-job-logs-for-workflow-run"} == set(operations())


async def test_tools_that_change_something_require_the_write_setting(serve: Serve, tools: Served) -> None:
    assert set(offered(await serve())) == READING
    assert set(offered(tools)) == ALL


async def test_annotations_scopes_and_metadata_match_the_effect_of_each_tool(tools: Served) -> None:
    by_operation: dict[str, set[str]] = {}
    for name, tool in offered(tools).items():
        assert tool.annotations is not None
        destructive = None if name in READING else name in CHANGING
        assert (tool.annotations.read_only, tool.annotations.destructive) == (name in READING, destructive), name
        assert tool.annotations.open_world is True
        assert tool.requires is not None
        assert tool.requires.authorization == GitHub(scopes=OTHER_SCOPES.get(name, ("repo",))), name
        metadata = tool.definition and tool.definition.metadata
        assert metadata is not None
        assert metadata.classification == Classification(("source_code",))
        assert metadata.behavior is not None
        for operation in metadata.behavior.operations:
            by_operation.setdefault(operation, set()).add(name)
    updating = {"merge_pull_request", "request_reviewers", "rerun_workflow", "update_issue"}
    assert by_operation == {
        "read": READING,
        "delete": {"delete_file"},
        "update": {"write_file", *updating},
        "create": {*ADDING, *CHANGING} - updating - {"delete_file"},
    }


async def test_every_tool_has_a_title_a_description_and_a_result_schema(tools: Served) -> None:
    assert all(tool.title and tool.description and tool.output_schema for tool in offered(tools).values())


async def test_without_a_token_one_problem_and_each_call_name_the_missing_secret(
    serve: Serve, github: GithubServer
) -> None:
    served = await serve(token="")
    unset = "the secret GITHUB_TOKEN is not set: set it in the environment"
    (problem,) = served.host.problems
    assert unset in str(problem)
    assert unset in (await served.fail("whoami")).message
    lenient = await served.host.dispatch(Call("tools/call", {"name": "github_whoami"}, supplied=Supplied(lenient=True)))
    assert isinstance(lenient, Failure)
    assert isinstance(lenient.error, AuthorizationRequiredError)
    assert github.seen == []


async def test_the_token_of_a_request_has_precedence(github: GithubServer, serve: Serve) -> None:
    served = await serve(token="ghp_wrong")
    own = Call("tools/call", {"name": "github_whoami"}, supplied=Supplied(Authorization(TOKEN), user_id="ann"))
    assert isinstance(await served.host.dispatch(own), ToolResult)
    assert (await served.fail("whoami")).status_code == 401


async def test_space_around_the_token_is_ignored(serve: Serve) -> None:
    assert (await (await serve(token=f" {TOKEN}\n")).call("whoami"))["login"] == "octocat"


@pytest.mark.needs("tool_commands")
async def test_the_first_command_requires_only_a_token_in_the_dotenv_file(github: GithubServer, tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    settings = {"PEGBOARD_CONFIG": "own.toml", "PEGBOARD__TOOLKITS__GITHUB__BASE_URL": github.url}
    (tmp_path / ".env").write_text(f"GITHUB_TOKEN={TOKEN}\n", "utf-8")
    (tmp_path / "own.toml").touch()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pegboard", "call", "github_whoami"),
        cwd=tmp_path,
        env={**kept, **settings, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, log = await process.communicate()
    assert process.returncode == 0, log
    assert b"octocat" in out
    assert b"TOKEN" not in log


SCRIPT = """
import asyncio, sys
import toolkit_github
from pegboard import Host

async def main():
    async with Host({"host": {"autoload": False}, "toolkits": {"github": {}}}) as host:
        assert "github_whoami" in host.assembly.tools
        assert not {"aiohttp", "yarl", "multidict"} & set(sys.modules)

asyncio.run(main())
"""


async def test_aiohttp_is_not_imported_before_the_first_request() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SCRIPT)
    assert await process.wait() == 0


async def test_the_readme_names_every_tool_and_every_setting_with_its_default() -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`github_(\w+)`", text)) == ALL
    (block,) = re.findall(r"```toml\n(\[toolkits\.github\].*?)```", text, re.DOTALL)
    assert tomllib.loads(block)["toolkits"]["github"] == GithubConfig().model_dump()


async def test_calls_share_one_session_that_closes_with_the_host(serve: Serve, github: GithubServer) -> None:
    served = await serve()
    await asyncio.gather(*(served.call("get_issue", repo=REPO, number=1347) for _ in range(50)))
    assert len(github.seen) == 50
    assert len(github.connections) <= 16
    client = served.host.assembly.tools["github_whoami"].owner.state
    session = client._session
    await served.host.__aexit__(None, None, None)
    assert session.closed
    with pytest.raises(Exception, match="The host is stopping"):
        await client._opened()


async def test_a_log_is_downloaded_without_the_token(tools: Served, github: GithubServer, storage: Storage) -> None:
    storage.content = b"\xef\xbb\xbf2026-01-02T03:04:05.6789012Z one\r\n2026-01-02T03:04:05.6789012Z two\r\n"
    result = await tools.call("get_job_log", repo=REPO, job_id=399444496, lines=1)
    assert result == {"text": "two", "lines": 1, "total_lines": 2}
    (headers,) = storage.headers
    assert not any(TOKEN in value for value in headers.values())
    assert github.operations() == ["actions/download-job-logs-for-workflow-run"]
