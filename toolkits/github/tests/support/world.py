"""What exists on the GitHub of the tests, and how it answers: like the real one, as far as the tools can tell.

Each operation has a function in one of the `on_*` modules; what they give is made of the description's examples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply, error

Handler = Callable[["World", Request, str], Reply]
T = TypeVar("T", bound=Handler)

HANDLERS: dict[str, Handler] = {}

REPO = "octocat/Hello-World"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
OLD_SHA = "7638417db6d59f3c431d3e1f261cc637155684cd"


class World:
    """One repository with what belongs to it; tests put in what they need.

    Attributes:
        files: path to content, of the default branch.
        links: path of a symbolic link to its target.
        submodules: paths of submodules.
        moved: old name of a repository to its new one.
        storage: where logs are kept; a log's path is the number of its job.
    """

    def __init__(self) -> None:
        self.login = "octocat"
        self.repositories = [example("repos/get")]
        self.moved: dict[str, str] = {}
        self.branches = {"main": SHA, "feature/x": OLD_SHA}
        self.commits = [commit(SHA, "Fix all the bugs\n\nEach of them."), commit(OLD_SHA, "Begin")]
        self.files: dict[str, bytes] = {"README.md": b"# Hello\n", "src/main.py": b"print('hello')\n"}
        self.links: dict[str, str] = {}
        self.submodules: set[str] = set()
        self.issues: dict[int, dict[str, Any]] = {1347: example("issues/get")}
        self.comments: dict[int, list[dict[str, Any]]] = {1347: example("issues/list-comments")}
        self.pulls: dict[int, dict[str, Any]] = {12: pull(12)}
        self.pull_files: list[dict[str, Any]] = example("pulls/list-files")
        self.reviews: list[dict[str, Any]] = example("pulls/list-reviews")
        self.review_comments: list[dict[str, Any]] = example("pulls/list-review-comments")
        self.checks: list[dict[str, Any]] = example("checks/list-for-ref")["check_runs"]
        self.runs: list[dict[str, Any]] = example("actions/list-workflow-runs-for-repo")["workflow_runs"]
        self.runs[0].update(status="completed", conclusion="failure")
        self.jobs: list[dict[str, Any]] = example("actions/list-jobs-for-workflow-run")["jobs"]
        self.releases: list[dict[str, Any]] = example("repos/list-releases")
        self.notifications: list[dict[str, Any]] = example("activity/list-notifications-for-authenticated-user")
        self.storage = ""
        self.rerun: list[str] = []

    def __call__(self, request: Request, url: str) -> Reply:
        """Answer one request."""
        if "owner" in request.path:
            repo = f"{request.path['owner']}/{request.path['repo']}"
            if repo in self.moved:
                place = url.replace(f"/repos/{repo}", f"/repos/{self.moved[repo]}", 1)
                status = 301 if request.operation.method == "GET" else 307
                return error(status, "Moved Permanently")._replace(headers={"Location": place + query(request)})
            if self.repository(repo) is None:
                return not_found()
        return HANDLERS[request.operation.id](self, request, url)

    def repository(self, name: str) -> dict[str, Any] | None:
        """The repository of that name; GitHub takes upper and lower case for the same."""
        return next((item for item in self.repositories if item["full_name"].lower() == name.lower()), None)

    def commit(self, name: str) -> dict[str, Any] | None:
        """The commit that a branch, HEAD or SHA stands for."""
        sha = self.branches.get("main" if name == "HEAD" else name, name)
        return next((item for item in self.commits if item["sha"] == sha), None)


def handles(operation: str) -> Callable[[T], T]:
    """Let a function answer an operation."""

    def record(function: T) -> T:
        HANDLERS[operation] = function
        return function

    return record


def query(request: Request, **changes: Any) -> str:
    """The query of a request, changed."""
    values = {key: str(value).lower() if isinstance(value, bool) else value for key, value in request.query.items()}
    return "?" + urlencode({**values, **changes}) if values or changes else ""


def paged(request: Request, url: str, items: list[Any], key: str = "", **around: Any) -> Reply:
    """One page of a list, with a Link header where there are others."""
    size, page = request.query.get("per_page", 30), request.query.get("page", 1)
    piece = items[(page - 1) * size : page * size]
    links = []
    if page > 1:
        links.append(f'<{url}{query(request, page=page - 1)}>; rel="prev"')
    if page * size < len(items):
        links.append(f'<{url}{query(request, page=page + 1)}>; rel="next"')
        links.append(f'<{url}{query(request, page=-(-len(items) // size))}>; rel="last"')
    body = {"total_count": len(items), key: piece, **around} if key else piece
    return Reply(200, body, {"Link": ", ".join(links)} if links else {})


def not_found() -> Reply:
    """What GitHub says of what is not there, and of what the token may not see."""
    return error(404, "Not Found")


def invalid(message: str, *errors: dict[str, Any]) -> Reply:
    """What GitHub says of a request that it understands and cannot do."""
    return error(422, message, errors=list(errors)) if errors else error(422, message)


def blob_sha(content: bytes) -> str:
    """The name that git gives a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def commit(sha: str, message: str) -> dict[str, Any]:
    """A commit with its files."""
    item: dict[str, Any] = example("repos/get-commit")
    item["sha"] = sha
    item["commit"]["message"] = message
    return item


def pull(number: int) -> dict[str, Any]:
    """A pull request."""
    item: dict[str, Any] = example("pulls/get")
    item.update(number=number, merged=False, merged_at=None, merged_by=None, merge_commit_sha=None)
    return item
