"""Reading files and directories of a repository: parts, encodings, large files, and entries that are not files."""

from __future__ import annotations

from typing import Any

import pytest

from toolkits.github.tests.conftest import Serve, Served
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import REPO, GithubServer, Reply, blob_sha, error, file

pytestmark = pytest.mark.asyncio(loop_scope="module")

GET = "repos/get-content"


@pytest.mark.parametrize(
    ("arguments", "first", "last", "text", "following"),
    [
        ({"start_line": 2, "end_line": 3}, 2, 3, "line 2\nline 3\n", {}),
        ({"start_line": -2}, 99, 100, "line 99\nline 100", {}),
        ({"start_line": 98, "end_line": 500}, 98, 100, "line 98\nline 99\nline 100", {}),
        ({"start_line": 9, "end_line": 8}, 0, 0, None, {}),
        ({"start_line": 10, "max_chars": 100}, 10, 21, None, {"next_line": 22}),
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
    github: GithubServer,
) -> None:
    github.script(GET, file("long.txt", "\n".join(f"line {number}" for number in range(1, 101)).encode()))
    part = await tools.call("get_file", repo=REPO, path="long.txt", **arguments)
    assert (part["first_line"], part["last_line"], part["total_lines"]) == (first, last, 100)
    assert text is None or part["text"] == text
    assert {key: part[key] for key in ("next_line", "next_offset") if key in part} == following


@pytest.mark.parametrize("content", ["one\ntwo\n\nfour", "x" * 1000 + "\n" + "y\n" * 300, "", "é世\U0001f642" * 200])
async def test_reading_on_returns_the_whole_file(content: str, tools: Served, github: GithubServer) -> None:
    text = ""
    arguments: dict[str, Any] | None = {}
    while arguments is not None:
        github.script(GET, file("f", content.encode()))
        part = await tools.call("get_file", repo=REPO, path="f", max_chars=100, **arguments)
        text += part.get("text", "")
        if "next_line" in part:
            arguments = {"start_line": part["next_line"]}
        else:
            arguments = {"offset": part["next_offset"]} if "next_offset" in part else None
    assert text == content


async def test_a_part_after_the_end_is_rejected_with_the_length(tools: Served) -> None:
    failed = await tools.fail("get_file", repo=REPO, path="README.md", start_line=5)
    assert failed.message == "Line 5 is after the end of the file: the file has 1 lines."
    assert failed.can_retry
    failed = await tools.fail("get_file", repo=REPO, path="README.md", offset=50)
    assert failed.message == "Offset 50 is after the end of the file: the file has 8 characters."


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("Grüße, 世界".encode(), None, "Grüße, 世界"),
        (b"\xef\xbb\xbfmarked", "utf-8-sig", "marked"),
        ("wide ü".encode("utf-16"), "utf-16", "wide ü"),
        ("früher".encode("latin-1"), "latin-1", "früher"),
        (b"a\r\nb\x0ccd\r\n", None, "a\r\nb\x0ccd\r\n"),
        (b"\x89PNG\r\n\x1a\n\0\0", None, None),
        (b"\xff\xfe\xff", None, None),
    ],
)
async def test_text_is_decoded_and_binary_files_are_only_described(
    content: bytes, encoding: str | None, text: str | None, tools: Served, github: GithubServer
) -> None:
    github.script(GET, file("f", content))
    described = await tools.call("get_file", repo=REPO, path="f")
    if text is None:
        assert described == {"path": "f", "sha": blob_sha(content), "size": len(content), "binary": True}
    else:
        assert (described["text"], described.get("encoding")) == (text, encoding)


async def test_a_file_above_a_megabyte_is_fetched_as_a_blob_within_the_limit(
    serve: Serve, github: GithubServer
) -> None:
    content = b"".join(b"%07d\n" % number for number in range(200_000))
    blob = {**example("git/get-blob"), **{key: file("f", content[:8]).body[key] for key in ("content", "encoding")}}
    github.script("git/get-blob", Reply(body=blob))
    github.script(GET, *[file("big.txt", content)] * 2)
    part = await (await serve()).call("get_file", repo=REPO, path="big.txt", start_line=-1)
    assert (part["text"], part["size"]) == ("0000000\n", 1_600_000)
    assert github.operations() == [GET, "git/get-blob"]
    failed = await (await serve(max_file_bytes=1_500_000)).fail("get_file", repo=REPO, path="big.txt")
    assert failed.message == "'big.txt' has 1600000 bytes: the operator allows at most 1500000."
    assert github.operations() == [GET, "git/get-blob", GET]


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("directory", "src", "'src' is a directory: list it instead."),
        ("symlink", "latest", "'latest' is a symbolic link to '/path/to/symlink/target': get the target instead."),
        ("submodule", "vendor", "'vendor' is a submodule: another repository, at the commit "),
    ],
)
async def test_a_path_that_is_not_a_file_is_explained(
    name: str, path: str, message: str, tools: Served, github: GithubServer
) -> None:
    github.script(GET, Reply(body=example(GET, f"response-if-content-is-a-{name}")))
    failed = await tools.fail("get_file", repo=REPO, path=path)
    assert failed.message.startswith(message)
    assert failed.can_retry
    assert "'README.md' is not a directory" in (await tools.fail("list_directory", repo=REPO, path="README.md")).message


async def test_a_long_directory_is_split_into_pages(tools: Served, github: GithubServer) -> None:
    entry = example(GET, "response-if-content-is-a-directory")[0]
    names = [f"d/{number:03}.txt" for number in range(450)]
    github.script(GET, *[Reply(body=[{**entry, "path": name} for name in names])] * 4)
    pages = [await tools.call("list_directory", repo=REPO, path="d", page=page) for page in (1, 2, 3, 4)]
    assert [page.get("next_page") for page in pages] == [2, 3, None, None]
    assert {page["total"] for page in pages} == {450}
    assert [item["path"] for page in pages for item in page["items"]] == names


async def test_links_and_submodules_are_marked_in_a_directory(tools: Served, github: GithubServer) -> None:
    """GitHub lists a submodule as a file. Its `git_url` shows the difference."""
    file, directory = example(GET, "response-if-content-is-a-directory")
    entries = [{**file, "type": "symlink", "path": "latest"}, {**directory, "type": "file", "path": "vendor"}]
    github.script(GET, Reply(body=entries))
    assert (await tools.call("list_directory", repo=REPO))["items"] == [
        {"path": "latest", "type": "symlink"},
        {"path": "vendor", "type": "submodule"},
    ]


async def test_a_missing_file_names_its_revision_and_invalid_base64_is_an_error(
    tools: Served, github: GithubServer
) -> None:
    github.script(GET, error(404, "Not Found"), Reply(body={**file("a", b"abc").body, "content": "abc"}))
    assert (await tools.fail("get_file", repo=REPO, path="a", ref="main")).message == (
        "'a' of 'octocat/Hello-World' at 'main' was not found: "
        "it does not exist, or the token cannot see it. Check the names."
    )
    assert (await tools.fail("get_file", repo=REPO, path="a")).status_code == 502
