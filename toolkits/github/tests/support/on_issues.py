"""How the GitHub of the tests answers about issues and their comments."""

from __future__ import annotations

from typing import Any

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply, error
from toolkits.github.tests.support.world import World, handles, invalid, not_found, paged

TIMES = ("2011-04-22T13:33:48Z", "2026-01-02T03:04:05Z")


@handles("issues/list-for-repo")
def listed(world: World, request: Request, url: str) -> Reply:
    wanted = set(filter(None, request.query.get("labels", "").split(",")))
    state = request.query.get("state", "open")
    found = [
        item
        for item in world.issues.values()
        if state in ("all", item["state"]) and wanted <= {label["name"] for label in item["labels"]}
    ]
    return paged(request, url, sorted(found, key=lambda item: -item["number"]))


@handles("search/issues-and-pull-requests")
def search(world: World, request: Request, url: str) -> Reply:
    words = [word for word in request.query["q"].lower().split() if ":" not in word]
    if not words and ":" not in request.query["q"]:
        return invalid("Validation Failed", {"resource": "Search", "field": "q", "code": "missing"})
    items = []
    for issue in world.issues.values():
        if all(word in issue["title"].lower() for word in words):
            item = example("search/issues-and-pull-requests")["items"][0]
            item.update(number=issue["number"], title=issue["title"], state=issue["state"])
            item["repository_url"] = "https://api.github.com/repos/octocat/Hello-World"
            items.append(item)
    return paged(request, url, items, "items", incomplete_results=False, search_type="lexical")


def _issue(world: World, request: Request) -> dict[str, Any] | None:
    return world.issues.get(request.path["issue_number"])


@handles("issues/get")
def get(world: World, request: Request, url: str) -> Reply:
    issue = _issue(world, request)
    return not_found() if issue is None else Reply(body=issue)


@handles("issues/list-comments")
def comments(world: World, request: Request, url: str) -> Reply:
    if _issue(world, request) is None:
        return not_found()
    return paged(request, url, world.comments[request.path["issue_number"]])


@handles("issues/create")
def create(world: World, request: Request, url: str) -> Reply:
    if not world.repositories[0]["has_issues"]:
        return error(410, "Issues are disabled for this repo")
    if not request.body["title"].strip():
        return invalid("Validation Failed", {"resource": "Issue", "field": "title", "code": "missing_field"})
    number = max(world.issues) + 1
    issue = example("issues/create", 201)
    issue.update(number=number, html_url=f"https://github.com/octocat/Hello-World/issues/{number}", state="open")
    _change(issue, request.body)
    world.issues[number] = issue
    world.comments[number] = []
    return Reply(201, issue)


@handles("issues/update")
def update(world: World, request: Request, url: str) -> Reply:
    issue = _issue(world, request)
    if issue is None:
        return not_found()
    _change(issue, request.body)
    return Reply(body=issue)


def _change(issue: dict[str, Any], given: dict[str, Any]) -> None:
    label, user = issue["labels"][0] if issue["labels"] else {}, issue["user"]
    for key, value in given.items():
        if key == "labels":
            issue[key] = [{**label, "name": name} for name in value]
        elif key == "assignees":
            issue[key] = [{**user, "login": name} for name in value]
            issue["assignee"] = issue[key][0] if value else None
        else:
            issue[key] = value
    issue["updated_at"] = TIMES[1]


@handles("issues/create-comment")
def comment(world: World, request: Request, url: str) -> Reply:
    issue = _issue(world, request)
    if issue is None:
        return not_found()
    if issue["locked"] and issue.get("active_lock_reason") == "spam":
        return error(403, "Unable to create comment because issue is locked.")
    made = example("issues/create-comment", 201)
    made.update(body=request.body["body"], id=len(world.comments[issue["number"]]) + 1)
    world.comments[issue["number"]].append(made)
    return Reply(201, made)
