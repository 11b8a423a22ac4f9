"""Tools for GitHub Actions: workflow runs, jobs and job logs, and restarting runs."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, Operation
from toolkit_github.asking import PageNumber, PerPage, Repo, client, page_of, repository, send
from toolkit_github.client import Ask
from toolkit_github.config import GithubConfig
from toolkit_github.kit import adds, reads
from toolkit_github.logs import Tail
from toolkit_github.paths import Query, in_repository, shown
from toolkit_github.shapes import Page, Raw, lean, part

__all__ = ["Job", "Log", "Rerun", "Run", "get_job_log", "list_workflow_jobs", "list_workflow_runs", "rerun_workflow"]

Id = Annotated[int, Field(ge=1, le=2**63 - 1)]


class Run(TypedDict):
    """A workflow run; `conclusion` is present once `status` is completed."""

    id: int
    workflow: NotRequired[str]
    title: NotRequired[str]
    event: str
    branch: NotRequired[str]
    sha: str
    status: NotRequired[str]
    conclusion: NotRequired[str]
    attempt: NotRequired[int]
    actor: NotRequired[str]
    created_at: str
    url: str


class Job(TypedDict):
    """A job of a run, with the names of its failed steps."""

    id: int
    name: str
    status: str
    conclusion: NotRequired[str]
    failed_steps: NotRequired[list[str]]
    started_at: NotRequired[str]
    completed_at: NotRequired[str]


class Log(TypedDict):
    """The last lines of a log, without timestamps; `total_lines` is the number of lines searched."""

    text: str
    lines: int
    total_lines: int
    incomplete: NotRequired[bool]


class Rerun(TypedDict):
    """A restarted run."""

    run_id: int
    failed_only: bool


@reads("List workflow runs")
async def list_workflow_runs(
    context: Context,
    repo: Repo,
    branch: str = "",
    status: Annotated[
        Literal["queued", "in_progress", "completed", "success", "failure", "cancelled", "timed_out"] | None,
        "status or conclusion",
    ] = None,
    event: Annotated[str, "such as push or pull_request"] = "",
    actor: Annotated[str, "a login"] = "",
    head_sha: Annotated[str, "SHA of a commit"] = "",
    per_page: PerPage = 20,
    page: PageNumber = 1,
) -> Page[Run]:
    """List the workflow runs (GitHub Actions) of a repository, newest first."""
    query: Query = {
        "branch": branch,
        "status": status,
        "event": event,
        "actor": actor,
        "head_sha": head_sha,
        "exclude_pull_requests": True,
    }
    return await page_of(
        context, repository(repo), in_repository(repo, "actions", "runs"), _run, per_page, page, query, "workflow_runs"
    )


@reads("List the jobs of a workflow run")
async def list_workflow_jobs(
    context: Context,
    repo: Repo,
    run_id: Id,
    all_attempts: Annotated[bool, "include jobs of earlier attempts"] = False,
    per_page: PerPage = 50,
    page: PageNumber = 1,
) -> Page[Job]:
    """List the jobs of a workflow run and their failed steps."""
    path = in_repository(repo, "actions", "runs", run_id, "jobs")
    query: Query = {"filter": "all" if all_attempts else "latest"}
    return await page_of(context, f"Workflow run {run_id} of {shown(repo)}", path, _job, per_page, page, query, "jobs")


@reads("Get the log of a job")
async def get_job_log(
    context: Context,
    repo: Repo,
    job_id: Id,
    lines: Annotated[int, "number of last lines", Field(ge=1, le=5000)] = 100,
    contains: Annotated[str, "only lines that contain this string in upper or lower case, and lines around them"] = "",
    around: Annotated[int, "number of lines around each match", Field(ge=0, le=50)] = 2,
    max_chars: Annotated[int, "maximum length of the text; its end is returned", Field(ge=100, le=500_000)] = 20_000,
) -> Log:
    """Get the last log lines of a completed workflow job, or the last lines that contain a string."""
    config: GithubConfig = context.config
    what = f"The log of job {job_id} of {shown(repo)}"
    ask = Ask(what, in_repository(repo, "actions", "jobs", job_id, "logs"))
    place = await client(context).location(ask, context.get_auth_token_or_empty())
    tail = Tail(lines, contains, around, max_chars)
    incomplete = False
    async with client(context).read_elsewhere(place, what) as chunks:
        async for chunk in chunks:
            tail.feed(chunk)
            if tail.size > config.max_log_bytes:
                incomplete = True
                break
    text, count = tail.end()
    log = Log(text=text, lines=count, total_lines=tail.total)
    if incomplete:
        log["incomplete"] = True
    return log


@adds("Run a workflow again", Operation.UPDATE)
async def rerun_workflow(
    context: Context,
    repo: Repo,
    run_id: Id,
    failed_only: Annotated[bool, "only the jobs that failed"] = True,
) -> Rerun:
    """Restart a completed workflow run."""
    last = "rerun-failed-jobs" if failed_only else "rerun"
    path = in_repository(repo, "actions", "runs", run_id, last)
    await send(context, f"Workflow run {run_id} of {shown(repo)}", path)
    return Rerun(run_id=run_id, failed_only=failed_only)


def _run(raw: Raw) -> Run:
    item = Run(
        id=raw["id"],
        workflow=raw.get("name"),
        title=raw["display_title"],
        event=raw["event"],
        branch=raw["head_branch"],
        sha=raw["head_sha"],
        status=raw["status"],
        conclusion=raw["conclusion"],
        attempt=raw.get("run_attempt"),
        actor=part(raw, "actor", "login"),
        created_at=raw["created_at"],
        url=raw["html_url"],
    )
    return lean(item)


def _job(raw: Raw) -> Job:
    steps = [step["name"] for step in raw.get("steps") or () if step["conclusion"] == "failure"]
    item = Job(
        id=raw["id"],
        name=raw["name"],
        status=raw["status"],
        conclusion=raw["conclusion"],
        failed_steps=steps,
        started_at=raw["started_at"],
        completed_at=raw["completed_at"],
    )
    return lean(item)
