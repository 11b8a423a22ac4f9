"""Job logs: the last lines, matches with surrounding lines, limits, and safe download URLs."""

from __future__ import annotations

import pytest

from toolkit_github.logs import Tail
from toolkits.github.tests.conftest import Serve, Served
from toolkits.github.tests.support.server import REPO, GithubServer, Reply, Storage

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOG = {"repo": REPO, "job_id": 399444496}


def read(
    data: bytes, *, size: int = 7, lines: int = 100, contains: str = "", around: int = 0, chars: int = 1000
) -> Tail:
    tail = Tail(lines, contains, around, chars)
    for start in range(0, len(data), size):
        tail.feed(data[start : start + size])
    return tail


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_pieces_may_end_inside_a_character(size: int) -> None:
    tail = read("one ü\ntwo 世\r\n\nfour".encode(), size=size)
    assert tail.end() == ("one ü\ntwo 世\n\nfour", 4)
    assert tail.total == 4


async def test_the_last_lines_and_characters_are_returned() -> None:
    tail = read(b"".join(b"%d\n" % number for number in range(1000)), lines=3)
    assert tail.end() == ("997\n998\n999", 3)
    assert tail.total == 1000
    assert read(b"aaaa\nbbbb\ncccc\n", chars=10).end() == ("bbbb\ncccc", 2)
    assert read(b"aaaa\nbbbb\ncccc\n", chars=9).end() == ("cccc", 1)
    assert read(b"x" * 100, chars=10).end() == ("x" * 10, 1)


async def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    tail = Tail(2, "", 0, 1000)
    for _ in range(1000):
        tail.feed(b"x" * 10_000)
    assert len(tail._rest) <= 65_536 + 10_000
    assert sum(map(len, tail._kept)) <= 2 * 65_536
    assert tail.end()[0] == "x" * 1000


async def test_matches_are_returned_with_the_lines_around_them_once() -> None:
    data = b"".join(b"%d%s\n" % (number, b"!" if number in (3, 4, 9) else b"") for number in range(13))
    assert read(data, contains="!", around=2).end()[0] == "1\n2\n3!\n4!\n5\n6\n7\n8\n9!\n10\n11"
    assert read(data, contains="!", around=0).end()[0] == "3!\n4!\n9!"
    assert read(b"\xff\xfe ERROR: stra\xc3\x9fe\nfine\n", contains="STRASSE").end() == ("\ufffd\ufffd ERROR: straße", 1)


async def test_timestamps_and_colours_are_removed() -> None:
    data = b"2026-01-02T03:04:05.1234567Z 2026-01-02T03:04:05.1Z \x1b[36;1mgo\x1b[0m [31m 2026-01-02\n"
    assert read(data).end()[0] == "2026-01-02T03:04:05.1Z go [31m 2026-01-02"


async def test_a_log_is_read_up_to_the_limit(serve: Serve, storage: Storage) -> None:
    storage.content = (b"x" * 1000 + b"\n") * 5000
    log = await (await serve(max_log_bytes=65_536)).call("get_job_log", **LOG, lines=1)
    assert log["incomplete"] is True
    assert log["total_lines"] < 5000
    assert "incomplete" not in await (await serve()).call("get_job_log", **LOG, lines=1)


async def test_a_missing_log_is_an_error_and_the_storage_cannot_redirect(tools: Served, storage: Storage) -> None:
    failed = await tools.fail("get_job_log", **LOG)
    assert failed.status_code == 404
    assert failed.message == (
        f"The log of job 399444496 of '{REPO}' could not be fetched from GitHub's file storage (status 404)."
    )
    storage.location = storage.url + "/latest/meta-data"
    assert (await tools.fail("get_job_log", **LOG)).status_code == 302
    assert len(storage.headers) == 2


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://10.0.0.1/x", "http://user:pass@127.0.0.1/x", "", "//"]
)
async def test_a_log_is_not_fetched_from_an_unsafe_url(place: str, tools: Served, github: GithubServer) -> None:
    github.script("actions/download-job-logs-for-workflow-run", Reply(302, None, {"Location": place}))
    assert (await tools.fail("get_job_log", **LOG)).status_code == 502


async def test_a_storage_that_is_down_is_a_network_error(tools: Served, github: GithubServer, unused_port: int) -> None:
    place = f"http://127.0.0.1:{unused_port}/x?sig=signed"
    github.script("actions/download-job-logs-for-workflow-run", Reply(302, None, {"Location": place}))
    assert (await tools.fail("get_job_log", **LOG)).kind == "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE"
