"""How the GitHub of the tests answers about repositories, branches, commits and the token's owner."""

from __future__ import annotations

from typing import Any

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply
from toolkits.github.tests.support.world import World, handles, invalid, not_found, paged


@handles("users/get-authenticated")
def whoami(world: World, request: Request, url: str) -> Reply:
    user = example("users/get-authenticated")
    user["login"] = world.login
    return Reply(body=user)


@handles("activity/list-notifications-for-authenticated-user")
def notifications(world: World, request: Request, url: str) -> Reply:
    found = [item for item in world.notifications if item["unread"] or request.query.get("all")]
    return paged(request, url, found)


@handles("search/repos")
def search(world: World, request: Request, url: str) -> Reply:
    found = []
    for repository in world.repositories:
        if request.query["q"].lower() in repository["full_name"].lower():
            item = example("search/repos")["items"][0]
            found.append({**item, "full_name": repository["full_name"], "description": repository["description"]})
    if request.query.get("page", 1) * request.query.get("per_page", 30) > 1000:
        return invalid("Only the first 1000 search results are available")
    return paged(request, url, found, "items", incomplete_results=False)


@handles("repos/list-for-authenticated-user")
def own(world: World, request: Request, url: str) -> Reply:
    return paged(request, url, [_listed("repos/list-for-authenticated-user", item) for item in world.repositories])


@handles("repos/list-for-user")
def of_user(world: World, request: Request, url: str) -> Reply:
    owned = [item for item in world.repositories if item["full_name"].startswith(request.path["username"] + "/")]
    return paged(request, url, [_listed("repos/list-for-user", item) for item in owned]) if owned else not_found()


def _listed(operation: str, repository: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = example(operation)[0]
    return {**item, "full_name": repository["full_name"], "description": repository["description"]}


@handles("repos/get")
def get(world: World, request: Request, url: str) -> Reply:
    return Reply(body=world.repository(f"{request.path['owner']}/{request.path['repo']}"))


@handles("repos/list-branches")
def branches(world: World, request: Request, url: str) -> Reply:
    items = []
    for name, sha in world.branches.items():
        item = example("repos/list-branches")[0]
        item.update(name=name, protected=name == "main")
        item["commit"]["sha"] = sha
        if item["protected"] or not request.query.get("protected"):
            items.append(item)
    return paged(request, url, items)


@handles("repos/list-commits")
def commits(world: World, request: Request, url: str) -> Reply:
    start = world.commit(request.query.get("sha", "HEAD"))
    if start is None:
        return not_found()
    found = world.commits[world.commits.index(start) :]
    if path := request.query.get("path"):
        found = [item for item in found if any(file["filename"] == path for file in item["files"])]
    return paged(request, url, [{key: value for key, value in item.items() if key != "files"} for item in found])


@handles("repos/get-commit")
def commit(world: World, request: Request, url: str) -> Reply:
    found = world.commit(request.path["ref"])
    if found is None:
        return invalid(f"No commit found for SHA: {request.path['ref']}")
    reply = paged(request, url, found["files"])
    return reply._replace(body={**found, "files": reply.body})


@handles("git/create-ref")
def create_ref(world: World, request: Request, url: str) -> Reply:
    name = request.body["ref"].removeprefix("refs/heads/")
    if name in world.branches:
        return invalid("Reference already exists")
    if world.commit(request.body["sha"]) is None:
        return invalid("Object does not exist")
    world.branches[name] = request.body["sha"]
    made = example("git/create-ref", 201)
    made["ref"] = request.body["ref"]
    made["object"]["sha"] = request.body["sha"]
    return Reply(201, made)
