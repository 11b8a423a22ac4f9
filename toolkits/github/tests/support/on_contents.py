"""How the GitHub of the tests answers about files."""

from __future__ import annotations

from base64 import b64decode, encodebytes
from typing import Any
from urllib.parse import quote

from toolkits.github.tests.support.description import Request
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import Reply, error
from toolkits.github.tests.support.world import World, blob_sha, handles, invalid, not_found, paged

EXAMPLE = "response-if-content-is-a-"
INLINE = 1 << 20
"""Of a larger file GitHub gives no content here."""


def target(request: Request, world: World) -> tuple[str, bool]:
    """The path, and whether the branch exists."""
    ref = request.query.get("ref") or (request.body or {}).get("branch") or "main"
    return request.path["path"], world.commit(ref) is not None


@handles("repos/get-content")
def get(world: World, request: Request, url: str) -> Reply:
    path, there = target(request, world)
    if not there:
        return error(404, f"No commit found for the ref {request.query['ref']}")
    return _contents(world, path)


def _contents(world: World, path: str) -> Reply:
    if path in world.links:
        item = example("repos/get-content", 200, EXAMPLE + "symlink")
        return Reply(body={**item, **_named(path), "target": world.links[path]})
    if path in world.submodules:
        return Reply(body={**example("repos/get-content", 200, EXAMPLE + "submodule"), **_named(path)})
    if path in world.files:
        return Reply(body=_file(path, world.files[path]))
    prefix = path + "/" if path else ""
    everything = [*world.files, *world.links, *world.submodules]
    below = sorted({name[len(prefix) :].split("/")[0] for name in everything if name.startswith(prefix)})
    return Reply(body=[_entry(world, prefix + name) for name in below]) if below else not_found()


def _named(path: str) -> dict[str, str]:
    return {"path": path, "name": path.rpartition("/")[2]}


def _file(path: str, content: bytes) -> dict[str, Any]:
    item: dict[str, Any] = example("repos/get-content", 200, EXAMPLE + "file")
    inline = len(content) <= INLINE
    item.update(_named(path), size=len(content), sha=blob_sha(content))
    item.update(content=encodebytes(content).decode() if inline else "", encoding="base64" if inline else "none")
    item["html_url"] = f"https://github.com/octocat/Hello-World/blob/main/{quote(path)}"
    return item


def _entry(world: World, path: str) -> dict[str, Any]:
    file, directory = example("repos/get-content", 200, EXAMPLE + "directory")
    if path in world.files:
        content = world.files[path]
        return {**file, **_named(path), "size": len(content), "sha": blob_sha(content)}
    if path in world.links:
        return {**file, **_named(path), "type": "symlink", "size": len(world.links[path])}
    if path in world.submodules:  # in a list GitHub calls a submodule a file, and its git_url tells it apart
        return {**directory, **_named(path), "type": "file"}
    return {**directory, **_named(path)}


@handles("git/get-blob")
def blob(world: World, request: Request, url: str) -> Reply:
    for content in world.files.values():
        if blob_sha(content) == request.path["file_sha"]:
            item = example("git/get-blob")
            item.update(content=encodebytes(content).decode(), sha=blob_sha(content), size=len(content))
            return Reply(body=item)
    return not_found()


@handles("repos/create-or-update-file-contents")
def put(world: World, request: Request, url: str) -> Reply:
    path, there = target(request, world)
    if not there:
        return error(404, f"Branch {request.body['branch']} not found")
    given = request.body.get("sha")
    if path in world.files and given is None:
        return invalid('Invalid request.\n\n"sha" wasn\'t supplied.')
    if path in world.files and given != blob_sha(world.files[path]):
        return error(409, f"{path} does not match {given}")
    status = 200 if path in world.files else 201
    world.files[path] = b64decode(request.body["content"], validate=True)
    made = example("repos/create-or-update-file-contents", status)
    made["content"].update(_named(path), sha=blob_sha(world.files[path]), size=len(world.files[path]))
    made["commit"]["message"] = request.body["message"]
    return Reply(status, made)


@handles("repos/delete-file")
def delete(world: World, request: Request, url: str) -> Reply:
    path, _ = target(request, world)
    if path not in world.files:
        return not_found()
    if request.body["sha"] != blob_sha(world.files[path]):
        return error(409, f"{path} does not match {request.body['sha']}")
    del world.files[path]
    return Reply(body=example("repos/delete-file"))


@handles("search/code")
def search(world: World, request: Request, url: str) -> Reply:
    words = [word for word in request.query["q"].split() if ":" not in word]
    items = []
    for path, content in world.files.items():
        text = content.decode(errors="replace")
        if all(word in text for word in words):
            item = example("search/code")["items"][0]
            item.update(_named(path), sha=blob_sha(content))
            item["repository"]["full_name"] = "octocat/Hello-World"
            if "text-match" in request.headers["Accept"]:
                item["text_matches"] = [{"property": "content", "fragment": text, "object_url": url, "matches": []}]
            items.append(item)
    return paged(request, url, items, "items", incomplete_results=False)
