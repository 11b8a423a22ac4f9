"""Tools about releases."""

from __future__ import annotations

import pytest

from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer
from toolkits.github.tests.support.world import REPO, World

LINE = {"tag": "v1.0.0", "name": "v1.0.0", "author": "octocat", "published_at": "2013-02-27T19:35:32Z"}
WHOLE = {
    **LINE,
    "url": "https://github.com/octocat/Hello-World/releases/v1.0.0",
    "body": "Description of the release",
    "assets": [
        {
            "name": "example.zip",
            "size": 1024,
            "downloads": 42,
            "url": "https://github.com/octocat/Hello-World/releases/download/v1.0.0/example.zip",
        }
    ],
}


@pytest.fixture
def offered() -> set[str]:
    return {"create_release", "get_release", "list_releases"}


async def test_list_releases(tools: Served, world: World) -> None:
    draft = {**world.releases[0], "tag_name": "v2", "name": None, "draft": True, "published_at": None}
    world.releases.append(draft)
    assert await tools.call("list_releases", repo=REPO) == {
        "items": [LINE, {"tag": "v2", "draft": True, "author": "octocat"}]
    }


async def test_get_release(tools: Served, world: World, github: GithubServer) -> None:
    assert await tools.call("get_release", repo=REPO) == WHOLE
    assert await tools.call("get_release", repo=REPO, tag="v1.0.0") == WHOLE
    assert github.operations() == ["repos/get-latest-release", "repos/get-release-by-tag"]
    world.releases[0]["tag_name"] = "pkg/ü v1"
    assert (await tools.call("get_release", repo=REPO, tag="pkg/ü v1"))["tag"] == "pkg/ü v1"
    error = await tools.fail("get_release", repo=REPO, tag="v9")
    assert error.message.startswith("The release 'v9' of 'octocat/Hello-World' was not found")
    world.releases.clear()
    error = await tools.fail("get_release", repo=REPO)
    assert error.message.startswith("A release of 'octocat/Hello-World' was not found")


async def test_create_release(tools: Served, world: World, github: GithubServer) -> None:
    made = await tools.call(
        "create_release", repo=REPO, tag="v2.0.0", target="main", name="Two", body="New", prerelease=True
    )
    assert (made["tag"], made["name"], made["body"], made["prerelease"]) == ("v2.0.0", "Two", "New", True)
    assert github.seen[0].body == {
        "tag_name": "v2.0.0",
        "target_commitish": "main",
        "name": "Two",
        "body": "New",
        "draft": False,
        "prerelease": True,
    }
    draft = await tools.call("create_release", repo=REPO, tag="v3", draft=True, generate_notes=True)
    assert (draft["draft"], "published_at" in draft) == (True, False)
    assert github.seen[1].body["generate_release_notes"] is True
    error = await tools.fail("create_release", repo=REPO, tag="v2.0.0")
    assert error.message == "GitHub refuses this: Validation Failed; tag_name: already_exists."
