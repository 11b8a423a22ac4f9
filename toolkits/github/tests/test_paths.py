"""Values of a caller stay in their place in a URL, and redirects stay inside the API."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import RetryableToolError
from toolkit_github.paths import below
from toolkit_github.redirects import elsewhere, inside
from toolkits.github.tests.conftest import Served
from toolkits.github.tests.support.server import REPO, GithubServer, file

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    "repo",
    [
        "", "/", "octocat", "octocat/", "/Hello-World", "octocat/Hello-World/issues", "octocat//Hello-World", "../user",
        "octocat/..", "octocat/.", "./x", "octocat/Hello-World?x=1", "octocat/Hello-World#x", "octo cat/x", "o%2Fc/x",
        "octocat/%2e%2e", "octocat/Hello\\World", "//evil.example/x", "https://evil.example/x", "octocat/Hello\nWorld",
        "octocat/Hello-World\0", "öctocat/x", "octocat@evil/x", "octocat/x;y", "o" * 101 + "/x",
    ],
)  # fmt: skip
async def test_an_invalid_repository_is_not_requested(repo: str, tools: Served, github: GithubServer) -> None:
    failed = await tools.fail("get_repository", repo=repo)
    assert "use owner/name" in failed.message
    assert failed.can_retry is True
    assert github.seen == []


@pytest.mark.parametrize(
    "path", ["../secret", "a/../../b", "./a", "a/.", "a//b", "/etc/passwd", "..", "a\0b", "a\nb", "\ud800"]
)
async def test_a_path_outside_the_repository_is_not_requested(path: str, tools: Served, github: GithubServer) -> None:
    for tool, arguments in (
        ("get_file", {}),
        ("list_directory", {}),
        ("write_file", {"content": "x", "message": "m"}),
        ("delete_file", {"sha": "x", "message": "m"}),
    ):
        message = (await tools.fail(tool, repo=REPO, path=path, **arguments)).message
        expected = (
            "is not a path in a repository",
            "cannot be part of a name",
            "unpaired surrogate",
            "whole characters",
        )
        assert any(text in message for text in expected)
    assert github.seen == []


@pytest.mark.parametrize("name", ["..", "a..b", "a/../b", "./a", "a//b", "/a", "a/", "a\nb", "\ud800"])
async def test_an_invalid_revision_is_not_requested(name: str, tools: Served, github: GithubServer) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_commit", {"commit": name}),
        ("list_checks", {"ref": name}),
        ("get_release", {"tag": name}),
        ("create_branch", {"name": "x", "source": name}),
    ]
    for tool, arguments in calls:
        assert (await tools.fail(tool, repo=REPO, **arguments)).can_retry is True
    assert github.seen == []


@pytest.mark.parametrize("owner", ["../user", "a/b", "a?b", "a.b", "\n", "%2e"])
async def test_an_invalid_owner_is_not_requested(owner: str, tools: Served, github: GithubServer) -> None:
    assert "is not a valid name of a user" in (await tools.fail("list_repositories", owner=owner)).message
    assert github.seen == []


@pytest.mark.parametrize("text", ["\ud800", "main\ud800"])
async def test_invalid_unicode_in_a_query_is_not_sent(text: str, tools: Served, github: GithubServer) -> None:
    for tool, arguments in (("search_issues", {"query": text}), ("get_file", {"repo": REPO, "path": "a", "ref": text})):
        message = (await tools.fail(tool, **arguments)).message
        assert "unpaired surrogate" in message or "whole characters" in message
    assert github.seen == []


@pytest.mark.parametrize(
    "path", ["a?b=c#d", "100%.txt", "%2e%2e/x", "a%2Fb", "ü/世界.md", "a&b=c", "a;b,c", "a\\b", "...", "a:b@c"]
)
async def test_an_unusual_path_arrives_unchanged(path: str, tools: Served, github: GithubServer) -> None:
    github.script("repos/get-content", file(path, b"content"))
    assert (await tools.call("get_file", repo=REPO, path=path))["text"] == "content"
    assert github.seen[0].path == {"owner": "octocat", "repo": "Hello-World", "path": path}
    assert github.seen[0].query == {}


@pytest.mark.parametrize("name", ["feature/ü#1?x=y", "v1.0+build", "100%", "a b", "&page=5"])
async def test_an_unusual_revision_or_query_arrives_unchanged(name: str, tools: Served, github: GithubServer) -> None:
    await tools.call("get_commit", repo=REPO, commit=name)
    assert github.seen[0].path["ref"] == name
    await tools.call("get_file", repo=REPO, path="README.md", ref=name)
    assert github.seen[1].query == {"ref": name}
    await tools.call("search_issues", query=name)
    assert github.seen[2].query == {"q": name, "order": "desc", "per_page": 20, "page": 1}


async def test_a_segment_is_encoded_whole() -> None:
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
async def test_a_redirect_with_the_token_stays_inside_the_api(location: str, target: str | None) -> None:
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
async def test_a_redirect_without_the_token_requires_https(base: str, location: str, allowed: bool) -> None:
    assert elsewhere(base, base + "/repos/a/b", location) == (location if allowed else None)
