"""How the GitHub of the tests answers about pull requests, their reviews and their checks."""

from __future__ import annotations

from typing import Any

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply, error
from toolkits.github.tests.support.world import OLD_SHA, SHA, World, handles, invalid, not_found, paged, pull


def _pull(world: World, request: Request) -> dict[str, Any] | None:
    return world.pulls.get(request.path["pull_number"])


@handles("pulls/list")
def listed(world: World, request: Request, url: str) -> Reply:
    items = []
    for found in world.pulls.values():
        if request.query.get("state", "open") in ("all", found["state"]):
            item = example("pulls/list")[0]
            own = {key: value for key, value in found.items() if key in item and key != "requested_teams"}
            items.append({**item, **own})
    return paged(request, url, items)


@handles("pulls/get")
def get(world: World, request: Request, url: str) -> Reply:
    found = _pull(world, request)
    return not_found() if found is None else Reply(body=found)


@handles("pulls/list-files")
def files(world: World, request: Request, url: str) -> Reply:
    return not_found() if _pull(world, request) is None else paged(request, url, world.pull_files)


@handles("pulls/list-reviews")
def reviews(world: World, request: Request, url: str) -> Reply:
    return not_found() if _pull(world, request) is None else paged(request, url, world.reviews)


@handles("pulls/list-review-comments")
def review_comments(world: World, request: Request, url: str) -> Reply:
    return not_found() if _pull(world, request) is None else paged(request, url, world.review_comments)


@handles("checks/list-for-ref")
def checks(world: World, request: Request, url: str) -> Reply:
    if world.commit(request.path["ref"]) is None:
        return invalid(f"No commit found for SHA: {request.path['ref']}")
    status = request.query.get("status")
    found = [item for item in world.checks if status in (None, item["status"])]
    return paged(request, url, found, "check_runs")


@handles("pulls/create")
def create(world: World, request: Request, url: str) -> Reply:
    head = request.body["head"].rpartition(":")[2]
    if head not in world.branches:
        return invalid("Validation Failed", {"resource": "PullRequest", "field": "head", "code": "invalid"})
    if world.branches[head] == world.branches[request.body["base"]]:
        said = f"No commits between {request.body['base']} and {head}"
        return invalid("Validation Failed", {"resource": "PullRequest", "code": "custom", "message": said})
    number = max(world.pulls) + 1
    made: dict[str, Any] = example("pulls/create", 201)
    made.update(number=number, title=request.body["title"], body=request.body.get("body"), draft=request.body["draft"])
    made["html_url"] = f"https://github.com/octocat/Hello-World/pull/{number}"
    world.pulls[number] = {**pull(number), **made}
    return Reply(201, made)


@handles("pulls/create-review")
def create_review(world: World, request: Request, url: str) -> Reply:
    found = _pull(world, request)
    if found is None:
        return not_found()
    if request.body["event"] == "APPROVE" and found["user"]["login"] == world.login:
        return error(422, "Unprocessable Entity", errors=["Can not approve your own pull request"])
    states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
    made = example("pulls/create-review")
    made.update(state=states[request.body["event"]], body=request.body.get("body", ""), id=81)
    world.reviews.append(made)
    return Reply(200, made)


@handles("pulls/request-reviewers")
def request_reviewers(world: World, request: Request, url: str) -> Reply:
    found = _pull(world, request)
    if found is None:
        return not_found()
    made = example("pulls/request-reviewers", 201)
    user = made["user"]
    made["number"] = found["number"]
    made["requested_reviewers"] = [{**user, "login": name} for name in request.body.get("reviewers", ())]
    found["requested_reviewers"] = made["requested_reviewers"]
    return Reply(201, made)


@handles("pulls/merge")
def merge(world: World, request: Request, url: str) -> Reply:
    found = _pull(world, request)
    if found is None:
        return not_found()
    if found["mergeable"] is False:
        return error(405, "Pull Request is not mergeable")
    if request.body.get("sha", found["head"]["sha"]) != found["head"]["sha"]:
        return error(409, "Head branch was modified. Review and try the merge again.")
    found.update(merged=True, state="closed")
    world.branches["main"] = OLD_SHA if world.branches["main"] == SHA else SHA
    return Reply(body=example("pulls/merge"))
