"""Tools about files: directories, content in parts, large files, code search, and changing files by commits."""

from __future__ import annotations

from typing import Any

import pytest

from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import GithubServer, Reply
from toolkits.github.tests.support.world import REPO, World, blob_sha

README = "fec56017dc1b1ac87ad6e54e3cb3a20bb8dcc5ab"


@pytest.fixture
def offered() -> set[str]:
    return {"delete_file", "get_file", "list_directory", "search_code", "write_file"}


async def test_list_directory(tools: Served, world: World, github: GithubServer) -> None:
    world.links["latest"] = "README.md"
    world.submodules.add("vendor")
    assert await tools.call("list_directory", repo=REPO) == {
        "items": [
            {"path": "README.md", "type": "file", "size": 8},
            {"path": "latest", "type": "symlink"},
            {"path": "src", "type": "dir"},
            {"path": "vendor", "type": "submodule"},
        ],
        "total": 4,
    }
    for path in ("src", "src/"):
        found = await tools.call("list_directory", repo=REPO, path=path, ref="main")
        assert found["items"] == [{"path": "src/main.py", "type": "file", "size": 15}]
    assert github.seen[-1].query == {"ref": "main"}


async def test_a_long_directory_comes_in_pages_of_one_answer(tools: Served, world: World, github: GithubServer) -> None:
    world.files = {f"d/{number:03}.txt": b"x" for number in range(450)}
    pages = [await tools.call("list_directory", repo=REPO, path="d", page=page) for page in (1, 2, 3, 4)]
    assert [len(page["items"]) for page in pages] == [200, 200, 50, 0]
    assert [page.get("next_page") for page in pages] == [2, 3, None, None]
    assert {page["total"] for page in pages} == {450}
    assert sorted(item["path"] for page in pages for item in page["items"]) == sorted(world.files)


async def test_get_file(tools: Served) -> None:
    assert await tools.call("get_file", repo=REPO, path="README.md") == {
        "path": "README.md",
        "sha": README,
        "size": 8,
        "first_line": 1,
        "last_line": 1,
        "total_lines": 1,
        "text": "# Hello\n",
    }


@pytest.mark.parametrize(
    ("arguments", "first", "last", "text", "following"),
    [
        ({"start_line": 2, "end_line": 3}, 2, 3, "line 2\nline 3\n", {}),
        ({"start_line": -2}, 99, 100, "line 99\nline 100", {}),
        ({"start_line": 0, "end_line": 1}, 1, 1, "line 1\n", {}),
        ({"start_line": 98, "end_line": 500}, 98, 100, "line 98\nline 99\nline 100", {}),
        ({"start_line": 9, "end_line": 8}, 0, 0, None, {}),
        (
            {"start_line": 10, "max_chars": 100},
            10,
            21,
            "".join(f"line {n}\n" for n in range(10, 22)),
            {"next_line": 22},
        ),
        ({"offset": 7, "max_chars": 100}, 2, 15, None, {"next_offset": 107}),
    ],
)
async def test_a_part_of_a_file(
    arguments: dict[str, Any],
    first: int,
    last: int,
    text: str | None,
    following: dict[str, int],
    tools: Served,
    world: World,
) -> None:
    world.files["long.txt"] = "\n".join(f"line {number}" for number in range(1, 101)).encode()
    part = await tools.call("get_file", repo=REPO, path="long.txt", **arguments)
    assert (part["first_line"], part["last_line"], part["total_lines"]) == (first, last, 100)
    assert text is None or part["text"] == text
    assert {key: part[key] for key in ("next_line", "next_offset") if key in part} == following


@pytest.mark.parametrize(
    "content", ["one\ntwo\n\nfour", "x" * 1000 + "\n" + "y\n" * 300, "", "\n\n", "é世\U0001f642" * 200]
)
async def test_reading_on_gives_the_whole_file(content: str, tools: Served, world: World) -> None:
    world.files["f"] = content.encode()
    text = ""
    arguments: dict[str, Any] = {}
    while True:
        part = await tools.call("get_file", repo=REPO, path="f", max_chars=100, **arguments)
        text += part.get("text", "")
        if "next_line" in part:
            arguments = {"start_line": part["next_line"]}
        elif "next_offset" in part:
            arguments = {"offset": part["next_offset"]}
        else:
            break
    assert text == content


async def test_a_part_that_is_not_there_says_how_long_the_file_is(tools: Served) -> None:
    error = await tools.fail("get_file", repo=REPO, path="README.md", start_line=5)
    assert (error.message, error.can_retry) == ("Line 5 is after the end of the file: the file has 1 lines.", True)
    error = await tools.fail("get_file", repo=REPO, path="README.md", offset=50)
    assert error.message == "Offset 50 is after the end of the file: the file has 8 characters."


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("Grüße, 世界".encode(), None, "Grüße, 世界"),
        (b"\xef\xbb\xbfmarked", "utf-8-sig", "marked"),
        ("wide ü".encode("utf-16"), "utf-16", "wide ü"),
        ("früher".encode("latin-1"), "latin-1", "früher"),
        (b"a\r\nb\x0cc\x85d\r\n".replace(b"\x85", b""), None, "a\r\nb\x0ccd\r\n"),
    ],
)
async def test_encodings(content: bytes, encoding: str | None, text: str, tools: Served, world: World) -> None:
    world.files["f"] = content
    found = await tools.call("get_file", repo=REPO, path="f")
    assert (found["text"], found.get("encoding")) == (text, encoding)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe\xff"])
async def test_a_binary_file_is_described_and_not_shown(content: bytes, tools: Served, world: World) -> None:
    world.files["f.png"] = content
    found = await tools.call("get_file", repo=REPO, path="f.png")
    assert found == {"path": "f.png", "sha": blob_sha(content), "size": len(content), "binary": True}


async def test_an_empty_file(tools: Served, world: World) -> None:
    world.files["empty"] = b""
    found = await tools.call("get_file", repo=REPO, path="empty")
    assert (found["size"], found["total_lines"], found.get("text", "")) == (0, 0, "")


async def test_a_file_beyond_a_megabyte_is_fetched_as_a_blob(tools: Served, world: World, github: GithubServer) -> None:
    world.files["big.txt"] = b"".join(b"%07d\n" % number for number in range(200_000))
    part = await tools.call("get_file", repo=REPO, path="big.txt", start_line=-1)
    assert (part["text"], part["total_lines"], part["size"]) == ("0199999\n", 200_000, 1_600_000)
    assert github.operations() == ["repos/get-content", "git/get-blob"]


async def test_a_file_beyond_the_limit_is_not_fetched(serve: Serve, world: World, github: GithubServer) -> None:
    served = await serve(max_file_bytes=1_500_000)
    world.files["big.txt"] = b"x" * 1_500_001
    error = await served.fail("get_file", repo=REPO, path="big.txt")
    assert error.message == "'big.txt' has 1500001 bytes: the operator allows at most 1500000."
    assert github.operations() == ["repos/get-content"]


async def test_what_is_no_file_says_what_it_is(tools: Served, world: World) -> None:
    world.links["latest"] = "docs/v2\n"
    world.submodules.add("vendor")
    failures = [await tools.fail("get_file", repo=REPO, path=path) for path in ("src", "", "latest", "vendor")]
    assert all(error.can_retry for error in failures)
    assert [error.message for error in failures] == [
        "'src' is a directory: list it instead.",
        "'' is a directory: list it instead.",
        "'latest' is a symbolic link to 'docs/v2\\n': get the target instead.",
        "'vendor' is a submodule: another repository, at the commit 6ca3721222109997540bd6d9ccd396902e0ad2f9.",
    ]
    error = await tools.fail("list_directory", repo=REPO, path="README.md")
    assert error.message == "'README.md' is not a directory: get the file instead."


async def test_a_file_that_is_not_there(tools: Served) -> None:
    error = await tools.fail("get_file", repo=REPO, path="nothing.txt", ref="main")
    assert error.status_code == 404
    assert error.message == (
        "'nothing.txt' of 'octocat/Hello-World' at 'main' was not found: "
        "it does not exist, or the token cannot see it. Check the names."
    )


async def test_base64_that_is_none_is_not_github(tools: Served, github: GithubServer, world: World) -> None:
    item = example("repos/get-content", 200, "response-if-content-is-a-file")
    item["content"] = "abc"
    github.script("repos/get-content", Reply(body=item))
    assert (await tools.fail("get_file", repo=REPO, path="a")).status_code == 502


async def test_search_code(tools: Served, world: World, github: GithubServer) -> None:
    world.files["src/long.py"] = b"hello" + b"." * 1000
    found = await tools.call("search_code", query="hello repo:octocat/Hello-World", max_chars=20)
    assert found["total"] == 2
    assert found["items"][0] == {
        "repo": REPO,
        "path": "src/main.py",
        "sha": "b376c9941fda362c8d2c5c8ddb35db3e0b003402",
        "matches": ["print('hello')\n"],
    }
    assert found["items"][1]["matches"] == ["hello" + "." * 15 + "\n[cut: 20 of 1005 characters]"]
    assert github.seen[0].headers["Accept"] == "application/vnd.github.text-match+json"
    bare = await tools.call("search_code", query="hello", max_chars=0)
    assert "matches" not in bare["items"][0]


async def test_a_new_file_is_written_and_an_old_one_replaced(tools: Served, world: World, github: GithubServer) -> None:
    made = await tools.call(
        "write_file", repo=REPO, path="docs/a b.md", content="Grüße\n", message="Add", branch="main"
    )
    assert made == {
        "path": "docs/a b.md",
        "sha": blob_sha("Grüße\n".encode()),
        "commit": "7638417db6d59f3c431d3e1f261cc637155684cd",
        "url": "https://github.com/octocat/Hello-World/git/commit/7638417db6d59f3c431d3e1f261cc637155684cd",
    }
    assert world.files["docs/a b.md"] == "Grüße\n".encode()
    assert github.seen[0].body == {"message": "Add", "content": "R3LDvMOfZQo=", "branch": "main"}
    await tools.call("write_file", repo=REPO, path="docs/a b.md", content="", message="Empty", sha=made["sha"])
    assert world.files["docs/a b.md"] == b""
    assert "branch" not in github.seen[1].body


async def test_a_file_that_exists_is_not_replaced_by_accident(tools: Served, world: World) -> None:
    error = await tools.fail("write_file", repo=REPO, path="README.md", content="x", message="m")
    assert error.status_code == 422
    assert error.message == 'GitHub refuses this: Invalid request. "sha" wasn\'t supplied.'
    error = await tools.fail("write_file", repo=REPO, path="README.md", content="x", message="m", sha="0" * 40)
    assert error.status_code == 409
    assert error.message.startswith("The change conflicts with the current state: README.md does not match 000")
    assert world.files["README.md"] == b"# Hello\n"


async def test_writing_to_a_branch_that_is_not_there(tools: Served) -> None:
    error = await tools.fail("write_file", repo=REPO, path="x", content="x", message="m", branch="nope")
    assert error.message.startswith("'x' or the branch in 'octocat/Hello-World' was not found")


async def test_content_that_is_no_unicode_is_not_sent(tools: Served, github: GithubServer) -> None:
    error = await tools.fail("write_file", repo=REPO, path="x", content="\ud800", message="m")
    assert (error.can_retry, github.seen) == (True, [])


async def test_delete_file(tools: Served, world: World, github: GithubServer) -> None:
    error = await tools.fail("delete_file", repo=REPO, path="README.md", sha="0" * 40, message="m")
    assert (error.status_code, "README.md" in world.files) == (409, True)
    done = await tools.call("delete_file", repo=REPO, path="README.md", sha=README, message="Gone", branch="main")
    assert done["path"] == "README.md"
    assert "sha" not in done
    assert github.seen[-1].body == {"message": "Gone", "sha": README, "branch": "main"}
    assert "README.md" not in world.files
    assert "path is empty" in (await tools.fail("delete_file", repo=REPO, path="/", sha=README, message="m")).message
