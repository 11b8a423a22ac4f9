"""How the GitHub of the tests answers about workflow runs and releases."""

from __future__ import annotations

from typing import Any

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply, error
from toolkits.github.tests.support.world import World, handles, invalid, not_found, paged


@handles("actions/list-workflow-runs-for-repo")
def runs(world: World, request: Request, url: str) -> Reply:
    wanted = request.query.get("status")
    branch = request.query.get("branch")
    found = [
        item
        for item in world.runs
        if wanted in (None, item["status"], item["conclusion"]) and branch in (None, item["head_branch"])
    ]
    return paged(request, url, found, "workflow_runs")


def _run(world: World, request: Request) -> dict[str, Any] | None:
    return next((item for item in world.runs if item["id"] == request.path["run_id"]), None)


@handles("actions/list-jobs-for-workflow-run")
def jobs(world: World, request: Request, url: str) -> Reply:
    return not_found() if _run(world, request) is None else paged(request, url, world.jobs, "jobs")


@handles("actions/download-job-logs-for-workflow-run")
def logs(world: World, request: Request, url: str) -> Reply:
    job = request.path["job_id"]
    if job not in {item["id"] for item in world.jobs}:
        return not_found()
    return Reply(302, None, {"Location": f"{world.storage}/logs/{job}?sig=c2lnbmVk%2B&se=2026"})


@handles("actions/re-run-workflow")
def rerun(world: World, request: Request, url: str) -> Reply:
    return _started(world, request, "all")


@handles("actions/re-run-workflow-failed-jobs")
def rerun_failed(world: World, request: Request, url: str) -> Reply:
    return _started(world, request, "failed")


def _started(world: World, request: Request, which: str) -> Reply:
    run = _run(world, request)
    if run is None:
        return not_found()
    if run["status"] != "completed":
        return error(403, "This workflow is already running")
    world.rerun.append(which)
    return Reply(201, {})


@handles("repos/list-releases")
def releases(world: World, request: Request, url: str) -> Reply:
    return paged(request, url, world.releases)


@handles("repos/get-latest-release")
def latest(world: World, request: Request, url: str) -> Reply:
    found = [item for item in world.releases if not item["draft"] and not item["prerelease"]]
    return Reply(body=found[0]) if found else not_found()


@handles("repos/get-release-by-tag")
def by_tag(world: World, request: Request, url: str) -> Reply:
    found = [item for item in world.releases if item["tag_name"] == request.path["tag"]]
    return Reply(body=found[0]) if found else not_found()


@handles("repos/create-release")
def create(world: World, request: Request, url: str) -> Reply:
    if any(item["tag_name"] == request.body["tag_name"] for item in world.releases):
        return invalid("Validation Failed", {"resource": "Release", "code": "already_exists", "field": "tag_name"})
    made: dict[str, Any] = example("repos/create-release", 201)
    for key in ("tag_name", "name", "body", "draft", "prerelease"):
        made[key] = request.body.get(key, made[key] if key != "name" else None)
    if made["draft"]:
        made["published_at"] = None
    world.releases.insert(0, made)
    return Reply(201, made)
