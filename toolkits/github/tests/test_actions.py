"""Tools about workflow runs, their jobs and logs."""

from __future__ import annotations

import pytest

from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer, Reply
from toolkits.github.tests.support.storage import Storage
from toolkits.github.tests.support.world import REPO, World

JOB = 399444496
LOG = f"/logs/{JOB}"
RUN = 30433642


@pytest.fixture
def offered() -> set[str]:
    return {"get_job_log", "list_workflow_jobs", "list_workflow_runs", "rerun_workflow"}


async def test_list_workflow_runs(tools: Served, github: GithubServer) -> None:
    assert await tools.call("list_workflow_runs", repo=REPO) == {
        "items": [
            {
                "id": RUN,
                "workflow": "Build",
                "title": "Update README.md",
                "event": "push",
                "branch": "master",
                "sha": "acb5820ced9479c074f688cc328bf03f341a511d",
                "status": "completed",
                "conclusion": "failure",
                "attempt": 1,
                "actor": "octocat",
                "created_at": "2020-01-22T19:33:08Z",
                "url": "https://github.com/octo-org/octo-repo/actions/runs/30433642",
            }
        ],
        "total": 1,
    }
    narrow = {"branch": "main", "status": "success", "event": "push", "actor": "octocat", "head_sha": "a" * 40}
    assert await tools.call("list_workflow_runs", repo=REPO, **narrow) == {"items": [], "total": 0}
    assert github.seen[1].query == {**narrow, "exclude_pull_requests": True, "per_page": 20, "page": 1}


async def test_list_workflow_jobs_names_the_steps_that_failed(
    tools: Served, world: World, github: GithubServer
) -> None:
    world.jobs[0]["conclusion"] = "failure"
    world.jobs[0]["steps"][6]["conclusion"] = "failure"
    world.jobs.append({**world.jobs[0], "id": 7, "name": "lint", "steps": [], "conclusion": None, "completed_at": None})
    found = await tools.call("list_workflow_jobs", repo=REPO, run_id=RUN)
    assert found["items"] == [
        {
            "id": JOB,
            "name": "build",
            "status": "completed",
            "conclusion": "failure",
            "failed_steps": ["Run Tests"],
            "started_at": "2020-01-20T17:42:40Z",
            "completed_at": "2020-01-20T17:44:39Z",
        },
        {"id": 7, "name": "lint", "status": "completed", "started_at": "2020-01-20T17:42:40Z"},
    ]
    await tools.call("list_workflow_jobs", repo=REPO, run_id=RUN, all_attempts=True)
    assert [request.query["filter"] for request in github.seen] == ["latest", "all"]
    error = await tools.fail("list_workflow_jobs", repo=REPO, run_id=1)
    assert error.message.startswith("Workflow run 1 of 'octocat/Hello-World' was not found")


def log(*lines: str) -> bytes:
    return "\ufeff".encode() + "".join(f"2026-01-02T03:04:05.6789012Z {line}\r\n" for line in lines).encode()


async def test_the_end_of_a_log_without_times_and_colours(tools: Served, storage: Storage) -> None:
    storage.files[LOG] = log(*(f"line {number}" for number in range(500)), "\x1b[31m##[error]\x1b[0m1 test failed")
    assert await tools.call("get_job_log", repo=REPO, job_id=JOB, lines=2) == {
        "text": "line 499\n##[error]1 test failed",
        "lines": 2,
        "total_lines": 501,
    }
    assert (await tools.call("get_job_log", repo=REPO, job_id=JOB))["lines"] == 100


async def test_the_lines_of_a_log_that_hold_a_text_and_those_around(tools: Served, storage: Storage) -> None:
    storage.files[LOG] = log(*(f"{number} ERROR" if number in (20, 22, 90) else str(number) for number in range(100)))
    found = await tools.call("get_job_log", repo=REPO, job_id=JOB, contains="error", around=1)
    assert found["text"].split("\n") == ["19", "20 ERROR", "21", "22 ERROR", "23", "89", "90 ERROR", "91"]
    assert (await tools.call("get_job_log", repo=REPO, job_id=JOB, contains="nothing"))["lines"] == 0


async def test_the_token_does_not_go_to_where_logs_are_kept(tools: Served, storage: Storage) -> None:
    storage.files[LOG] = log("done")
    await tools.call("get_job_log", repo=REPO, job_id=JOB)
    (headers,) = storage.headers
    assert "Authorization" not in headers
    assert not any(TOKEN in value for value in headers.values())


async def test_a_log_is_read_no_further_than_the_settings_allow(
    serve: Serve, storage: Storage, github: GithubServer
) -> None:
    storage.files[LOG] = log(*("x" * 1000 for _ in range(5000)))
    served = await serve(max_log_bytes=65_536)
    found = await served.call("get_job_log", repo=REPO, job_id=JOB, lines=1)
    assert found["incomplete"] is True
    assert found["total_lines"] < 5000
    assert "incomplete" not in await (await serve()).call("get_job_log", repo=REPO, job_id=JOB, lines=1)


async def test_a_log_that_is_gone_from_where_it_was_kept(tools: Served, storage: Storage) -> None:
    error = await tools.fail("get_job_log", repo=REPO, job_id=JOB)
    assert error.status_code == 404
    assert error.message == (
        f"The log of job {JOB} of 'octocat/Hello-World' could not be fetched from GitHub's file storage (status 404)."
    )
    storage.files[LOG] = b""
    storage.status = 403
    assert (await tools.fail("get_job_log", repo=REPO, job_id=JOB)).status_code == 403


async def test_where_logs_are_kept_cannot_send_us_on(tools: Served, storage: Storage) -> None:
    storage.location = storage.url + "/latest/meta-data"
    assert (await tools.fail("get_job_log", repo=REPO, job_id=JOB)).status_code == 302
    assert len(storage.headers) == 1


async def test_a_log_of_no_job(tools: Served, storage: Storage) -> None:
    error = await tools.fail("get_job_log", repo=REPO, job_id=1)
    assert error.message.startswith("The log of job 1 of 'octocat/Hello-World' was not found")


async def test_a_log_of_a_renamed_repository(tools: Served, storage: Storage, world: World) -> None:
    world.moved["octocat/Old"] = REPO
    storage.files[LOG] = log("done")
    assert (await tools.call("get_job_log", repo="octocat/Old", job_id=JOB))["text"] == "done"


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://10.0.0.1/x", "http://user:pass@127.0.0.1/x", "", "//"]
)
async def test_a_log_is_not_fetched_from_an_unsafe_place(place: str, tools: Served, github: GithubServer) -> None:
    github.script("actions/download-job-logs-for-workflow-run", Reply(302, None, {"Location": place}))
    error = await tools.fail("get_job_log", repo=REPO, job_id=JOB)
    assert error.status_code == 502


async def test_a_place_that_nobody_serves(tools: Served, github: GithubServer, unused_port: int) -> None:
    place = f"http://127.0.0.1:{unused_port}/x?sig=signed"
    github.script("actions/download-job-logs-for-workflow-run", Reply(302, None, {"Location": place}))
    error = await tools.fail("get_job_log", repo=REPO, job_id=JOB)
    assert error.kind == "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE"


async def test_rerun_workflow(tools: Served, world: World, github: GithubServer) -> None:
    assert await tools.call("rerun_workflow", repo=REPO, run_id=RUN) == {"run_id": RUN, "failed_only": True}
    await tools.call("rerun_workflow", repo=REPO, run_id=RUN, failed_only=False)
    assert world.rerun == ["failed", "all"]
    world.runs[0]["status"] = "in_progress"
    assert (await tools.fail("rerun_workflow", repo=REPO, run_id=RUN)).status_code == 403
