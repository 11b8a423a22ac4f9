"""Nothing that a caller says leaves its place in a URL, and the token leaves the API for nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import RetryableToolError
from toolkit_github.paths import below
from toolkit_github.redirects import elsewhere, inside
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer, error
from toolkits.github.tests.support.storage import Storage
from toolkits.github.tests.support.world import REPO, World

REPOSITORIES = [
    "", "/", "octocat", "octocat/", "/Hello-World", "octocat/Hello-World/issues", "octocat//Hello-World", "../user",
    "octocat/..", "octocat/.", "./x", "octocat/Hello-World?x=1", "octocat/Hello-World#x", "octo cat/x", "o%2Fc/x",
    "octocat/%2e%2e", "octocat/Hello\\World", "//evil.example/x", "https://evil.example/x", "octocat/Hello\nWorld",
    "octocat/Hello-World\0", "öctocat/x", "octocat@evil/x", "octocat/x;y", "o" * 101 + "/x",
]  # fmt: skip


@pytest.fixture
def offered() -> set[str]:
    return {
        "create_branch",
        "delete_file",
        "get_commit",
        "get_file",
        "get_issue",
        "get_job_log",
        "get_release",
        "get_repository",
        "list_checks",
        "list_directory",
        "list_repositories",
        "search_issues",
        "update_issue",
        "whoami",
        "write_file",
    }


@pytest.mark.parametrize("repo", REPOSITORIES)
async def test_what_is_no_repository_is_not_asked_for(repo: str, tools: Served, github: GithubServer) -> None:
    error = await tools.fail("get_repository", repo=repo)
    assert "use owner/name" in error.message
    assert error.can_retry is True
    assert github.seen == []


PATHS = ["../secret", "a/../../b", "./a", "a/.", "a//b", "/etc/passwd", "..", "a/..", "a\0b", "a\nb"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("tool", ["get_file", "list_directory", "write_file", "delete_file"])
async def test_a_path_that_goes_astray_is_not_asked_for(
    tool: str, path: str, tools: Served, github: GithubServer
) -> None:
    more: dict[str, dict[str, Any]] = {
        "write_file": {"content": "x", "message": "m"},
        "delete_file": {"sha": "x", "message": "m"},
    }
    error = await tools.fail(tool, repo=REPO, path=path, **more.get(tool, {}))
    assert error.can_retry is True
    assert (
        "cannot be part of a name" if {"\0", "\n"} & set(path) else "is not a path in a repository"
    ) in error.message
    assert github.seen == []


ODD = [
    "a b.txt",
    "a?b=c#d",
    "100%.txt",
    "%2e%2e/x",
    "a%2Fb",
    "ü/世界.md",
    "a&b=c",
    "a;b,c",
    "a\\b",
    "...",
    "-",
    "a:b@c",
    "~",
]


@pytest.mark.parametrize("path", ODD)
async def test_an_odd_path_arrives_as_it_is(path: str, tools: Served, world: World, github: GithubServer) -> None:
    world.files[path] = b"content of " + path.encode()
    found = await tools.call("get_file", repo=REPO, path=path)
    assert found["text"] == f"content of {path}"
    assert github.seen[0].path == {"owner": "octocat", "repo": "Hello-World", "path": path}
    assert github.seen[0].query == {}


@pytest.mark.parametrize("name", ["..", "a..b", "a/../b", "./a", "a//b", "/a", "a/", "a\nb", "\ud800"])
async def test_a_ref_that_is_none_is_not_asked_for(name: str, tools: Served, github: GithubServer) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_commit", {"commit": name}),
        ("list_checks", {"ref": name}),
        ("get_release", {"tag": name}),
        ("create_branch", {"name": "x", "source": name}),
    ]
    for tool, arguments in calls:
        assert (await tools.fail(tool, repo=REPO, **arguments)).can_retry is True
    assert github.seen == []


@pytest.mark.parametrize("name", ["feature/ü#1?x=y", "v1.0+build", "a%2F..%2Fb", "100%", "a b", "issue-#7"])
async def test_an_odd_ref_arrives_as_it_is(name: str, tools: Served, world: World, github: GithubServer) -> None:
    world.branches[name] = world.branches["main"]
    if ".." not in name:
        await tools.call("get_commit", repo=REPO, commit=name)
        assert github.seen[0].path["ref"] == name
    await tools.call("get_file", repo=REPO, path="README.md", ref=name)
    assert github.seen[-1].query == {"ref": name}
    assert github.seen[-1].path["path"] == "README.md"


@pytest.mark.parametrize("text", ["a&per_page=1", "a#b", "a%20b", "a+b", "a=b?c", "\n", "é", "&q=other"])
async def test_a_query_is_one_parameter_whatever_it_holds(text: str, tools: Served, github: GithubServer) -> None:
    await tools.call("search_issues", query="is:issue " + text)
    assert github.seen[0].query == {"q": "is:issue " + text, "order": "desc", "per_page": 20, "page": 1}


@pytest.mark.parametrize("owner", ["../user", "a/b", "a?b", "a.b", "a b", "\n", "%2e"])
async def test_what_is_no_owner_is_not_asked_for(owner: str, tools: Served, github: GithubServer) -> None:
    assert "is not a valid name of a user" in (await tools.fail("list_repositories", owner=owner)).message
    assert github.seen == []


async def test_what_is_no_unicode_is_not_sent(tools: Served, github: GithubServer) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_issues", {"query": "\ud800"}),
        ("get_file", {"repo": REPO, "path": "a/\ud800"}),
        ("get_file", {"repo": REPO, "path": "a", "ref": "\ud800"}),
        ("delete_file", {"repo": REPO, "path": "\ud800", "sha": "x", "message": "m"}),
    ]
    for tool, arguments in calls:
        message = (await tools.fail(tool, **arguments)).message
        assert "not valid Unicode" in message or "whole characters" in message
    assert github.seen == []


async def test_an_enterprise_server_is_asked_below_its_path(
    world: World, serve: Serve, github: GithubServer, storage: Storage
) -> None:
    async with GithubServer(world, prefix="/api/v3") as enterprise:
        served = await serve(base_url=enterprise.url + "/", write=True)
        storage.files["/logs/399444496"] = b"done"
        world.moved["octocat/Old"] = REPO
        assert (await served.call("get_repository", repo="octocat/Old"))["repo"] == REPO
        assert (await served.call("list_directory", repo=REPO))["total"] == 2
        assert (await served.call("get_job_log", repo=REPO, job_id=399444496))["text"] == "done"
        assert enterprise.faults == []
        assert len(enterprise.seen) == 4
    assert github.seen == []


async def test_the_token_does_not_follow_a_redirection_to_another_host(
    tools: Served, github: GithubServer, storage: Storage
) -> None:
    for status, operation, call in (
        (301, "issues/get", ("get_issue", {"number": 1347})),
        (307, "issues/get", ("get_issue", {"number": 1347})),
        (307, "issues/update", ("update_issue", {"number": 1347, "title": "x"})),
    ):
        moved = error(status, "Moved")._replace(headers={"Location": storage.url + "/repos/a/b/issues/1"})
        github.script(operation, moved)
        assert (await tools.fail(call[0], repo=REPO, **call[1])).status_code == status
    assert storage.headers == []


async def test_a_change_is_not_repeated_elsewhere_by_a_redirection_of_reads(
    tools: Served, github: GithubServer
) -> None:
    place = f"{github.url}/repos/octocat/Hello-World/issues/1347"
    github.script("issues/update", error(301, "Moved")._replace(headers={"Location": place}))
    assert (await tools.fail("update_issue", repo=REPO, number=1347, title="x")).status_code == 301
    assert len(github.seen) == 1


async def test_redirections_in_a_circle_end(tools: Served, github: GithubServer) -> None:
    place = f"{github.url}/repos/octocat/Hello-World/issues/1347"
    github.script("issues/get", *[error(301, "Moved")._replace(headers={"Location": place})] * 10)
    assert (await tools.fail("get_issue", repo=REPO, number=1347)).status_code == 301
    assert len(github.seen) == 4


def test_a_segment_stays_one_segment_whatever_it_holds() -> None:
    assert below("a/b", 5, "ü?#%&;=+ ~.-_") == "/a%2Fb/5/%C3%BC%3F%23%25%26%3B%3D%2B%20~.-_"
    for segment in ("", ".", "..", "a\0", "a\x7f", "\ud800"):
        with pytest.raises(RetryableToolError):
            below("a", segment)


BASE = "https://github.example.com/api/v3"
URL = BASE + "/repos/a/b"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (BASE + "/repositories/1?x=1", BASE + "/repositories/1?x=1"),
        ("https://GitHub.example.com:443/api/v3/x", "https://GitHub.example.com:443/api/v3/x"),
        ("/api/v3/repositories/1", BASE + "/repositories/1"),
        ("c", BASE + "/repos/a/c"),
        (BASE + "/x#fragment", BASE + "/x"),
        ("", None),
        ("https://evil.example/api/v3/x", None),
        ("//evil.example/api/v3/x", None),
        ("http://github.example.com/api/v3/x", None),
        ("https://github.example.com:8443/api/v3/x", None),
        ("https://github.example.com/login", None),
        ("https://github.example.com/api/v3x", None),
        ("https://github.example.com/api/v3/../../login", None),
        ("https://github.example.com/api/v3/%2e%2e/%2E%2e/login", None),
        ("https://github.example.com/api/v3/a%2F..%2F..%2Flogin", None),
        ("https://user@github.example.com/api/v3/x", None),
        ("https://github.example.com\\@evil.example/api/v3/x", None),
        ("https://github.example.com/api/v3/x y", None),
        ("https://github.example.com/api/v3/ü", None),
        ("https://[github.example.com/api/v3/x", None),
        ("https://github.example.com:99999/api/v3/x", None),
        ("javascript:alert(1)", None),
    ],
)
def test_where_the_token_may_follow(location: str, target: str | None) -> None:
    assert inside(BASE, URL, location) == target


@pytest.mark.parametrize(
    ("base", "location", "allowed"),
    [
        (BASE, "https://logs.example/x?sig=a%2Bb", True),
        (BASE, "http://logs.example/x", False),
        (BASE, "http://127.0.0.1/x", False),
        ("http://127.0.0.1:1", "http://localhost:2/x", True),
        ("http://127.0.0.1:1", "http://logs.example/x", False),
        (BASE, "ftp://logs.example/x", False),
        (BASE, "https://u:p@logs.example/x", False),
    ],
)
def test_where_a_file_may_be_fetched_from(base: str, location: str, allowed: bool) -> None:
    assert elsewhere(base, base + "/repos/a/b", location) == (location if allowed else None)


async def test_the_server_of_the_tests_does_refuse_a_wrong_token(github: GithubServer, serve: Serve) -> None:
    assert (await (await serve(token=TOKEN + "x")).fail("whoami")).status_code == 401
    assert (await (await serve(token=f" {TOKEN}\n")).call("whoami"))["login"] == "octocat"
