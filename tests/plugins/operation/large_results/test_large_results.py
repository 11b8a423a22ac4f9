"""Large results: the beginning, and a link that only the caller can read for a limited time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard import Context, ImageContent, ResourceLink, ResourceResult, TextContent, Toolkit
from pegboard.plugin import PluginContext, PluginError, decode, encode, hookimpl
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, Client, Failure
from pegboard_plugins.operation.large_results import (
    KeptResults,
    LargeResultsConfig,
    LargeResultsPlugin,
    Owner,
    WholeResult,
)
from pegboard_testing import connect
from tests.host.hosting import kit_of, make_host
from tests.support.schemas import REVISIONS

LIMIT = 1000
CONFIG = {"plugins": {"large_of_test": {"preview_bytes": 10, "max_result_bytes": 5000}}}
LINKS = Client(revision="2026-07-28")
ALICE, BOB = Caller("alice", scopes=frozenset(["work"])), Caller("bob")


def text(size: int) -> str:
    return "\u00e4" * (size // 2)


def numbers() -> list[int]:
    """Return data with an output schema."""
    return [1234567] * 500


def image() -> ImageContent:
    return ImageContent(b"x" * 2000, "image/png")


async def outer(context: Context) -> str:
    return str(await context.tools.call("text", {"size": 3000}))


def kit() -> Toolkit:
    return kit_of(text, numbers, image, outer, max_result=LIMIT)


async def called(host: Any, name: str, caller: Caller = LOCAL, session: str | None = None, **arguments: Any) -> Any:
    params = {"name": name, "arguments": arguments}
    return await host.dispatch(Call("tools/call", params, caller=caller, client=LINKS, session_id=session))


async def read(host: Any, uri: str, caller: Caller = LOCAL, session: str | None = None) -> Any:
    return await host.dispatch(Call("resources/read", {"uri": uri}, caller=caller, session_id=session))


def large_host() -> Any:
    # the limit of the host does not apply to kept results
    return make_host(kit(), plugins={"large_of_test": LargeResultsPlugin}, config=CONFIG, max_result_bytes=LIMIT)


class FailingPlugin(LargeResultsPlugin):
    """A plugin that fails when the host starts."""

    @hookimpl
    @asynccontextmanager
    async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
        assert not context.name, "it fails"
        yield


async def test_a_plugin_that_failed_to_start_answers_no_other_process() -> None:
    host = make_host(kit(), plugins={"failing": FailingPlugin})
    with pytest.raises(PluginError):
        await host.start()
    assert "failing" not in host._bus._handlers


@pytest.mark.parametrize(
    ("name", "arguments", "beginning", "whole", "mime_type"),
    [
        ("text", {"size": 3000}, "\u00e4" * 5, "\u00e4" * 1500, "text/plain"),
        ("numbers", {}, "[1234567,1", "[" + ",".join(["1234567"] * 500) + "]", "application/json"),
    ],
)
async def test_a_large_result_is_its_beginning_and_a_link_to_all_of_it(
    name: str, arguments: dict[str, Any], beginning: str, whole: str, mime_type: str
) -> None:
    async with large_host() as host:
        result = await called(host, name, **arguments)
        about, start, link = result.content
        assert about.text[:44] == f"The result is too large: it has {len(whole.encode()):,} bytes,"[:44]
        assert start == TextContent(beginning)
        assert link == ResourceLink(link.uri, f"result of {name}", mime_type=mime_type, size=len(whole.encode()))
        # only an error may lack the structured content that a schema promises
        assert result.is_error == (name == "numbers")
        contents = (await read(host, link.uri)).contents[0]
        assert (contents.content, contents.mime_type) == (whole, mime_type)


@pytest.mark.parametrize(
    ("name", "arguments"), [("text", {"size": 5002}), ("image", {}), ("outer", {})], ids=["beyond", "content", "inner"]
)
async def test_other_large_results_are_errors_as_before(name: str, arguments: dict[str, Any]) -> None:
    async with large_host() as host:
        outcome = await called(host, name, **arguments)
        assert isinstance(outcome, Failure)
        assert outcome.error.message == f"The result is too large: it has more than {LIMIT:,} bytes."


@pytest.mark.parametrize(
    ("caller", "session", "is_read"),
    [
        (ALICE, "one", True),
        (ALICE._replace(scopes=frozenset(["work", "more"]), expires_at=9.0), "one", True),
        (ALICE._replace(scopes=frozenset(["more"])), "one", False),
        (ALICE, "two", False),
        (ALICE, None, False),
        (BOB, "one", False),
        (ANONYMOUS, "one", False),
        (LOCAL, "one", False),
    ],
)
async def test_only_the_caller_reads_a_result_in_its_session(caller: Caller, session: str, is_read: bool) -> None:
    async with large_host() as host:
        uri = (await called(host, "text", ALICE, "one", size=3000)).content[2].uri
        assert isinstance(await read(host, uri, caller, session), ResourceResult) == is_read
        assert isinstance(await read(host, uri[:-1], ALICE, "one"), Failure)
        other = (await called(host, "text", BOB, size=3000)).content[2].uri
        assert other != uri
    plugin = LargeResultsPlugin(LargeResultsConfig())
    key = plugin._kept.add(whole(10), Owner.of(ALICE, "one"))
    request = decode(encode([key, Owner.of(caller, session)]))  # as from another process
    assert (await plugin._read_for_another(request) == whole(10)) == is_read


TOOLS, LINKED = {"tools": ["*"]}, {"tools": ["*"], "resources": ["pegboard://large-results/{id}"]}


@pytest.mark.parametrize(
    ("profile", "revision", "has_link"),
    [
        *((None, revision, revision >= "2025-06-18") for revision in REVISIONS),
        *((TOOLS, revision, False) for revision in REVISIONS[-2:]),
        *((LINKED, revision, True) for revision in REVISIONS[-2:]),
    ],
)
async def test_clients_that_cannot_read_links_receive_the_error(profile: Any, revision: str, has_link: bool) -> None:
    mcp = {} if profile is None else {"profiles": {"part": profile}, "stream_profile": "part"}
    config = {"plugins": {"mcp": mcp, "large_results": {}}}
    async with connect(kit(), hostconfig=config, revision=revision) as client:
        result = (await client.call("text", {"size": 3000})).raw
        assert (result["content"][-1]["type"] == "resource_link", result["isError"]) == (has_link, not has_link)
        if has_link:
            assert (await client.read(result["content"][-1]["uri"])).text == "\u00e4" * 1500


async def test_no_link_is_sent_if_the_tags_disable_it() -> None:
    tagged, plugins = kit_of(text, max_result=LIMIT, tags=["a"]), {"large_of_test": LargeResultsPlugin}
    async with make_host(tagged, plugins=plugins, config=CONFIG, enabled_tags=["a"]) as host:
        assert isinstance(await called(host, "text", size=3000), Failure)
        (problem,) = host.problems
        assert "pegboard://large-results/{id} is not served (enabled_tags)" in str(problem)


def whole(size: int) -> WholeResult:
    return WholeResult("x" * size, size, "text/plain")


@pytest.mark.parametrize("limit", [{"max_results": 4}, {"max_total_bytes": 40}])
def test_a_caller_with_many_results_loses_its_own(limit: dict[str, int]) -> None:
    kept = KeptResults(LargeResultsConfig(**limit))
    owners = [Owner.of(ALICE, None), Owner.of(ANONYMOUS, None, "192.0.2.1"), Owner.of(ANONYMOUS, None, "192.0.2.2")]
    first = [kept.add(whole(10), owner) for owner in owners]
    many = [kept.add(whole(10), owners[2]) for _ in range(9)]
    assert [kept.get(key, owner) is not None for key, owner in zip(first, owners, strict=True)] == [True, True, False]
    assert [kept.get(key, owners[2]) is not None for key in many] == [False] * 7 + [True, True]


def test_the_store_is_bounded_by_count_bytes_and_time() -> None:
    now = 0.0
    owner = Owner.of(ALICE, None)
    kept = KeptResults(LargeResultsConfig(keep_seconds=10, max_results=3, max_total_bytes=100), clock=lambda: now)

    def present(*keys: str) -> list[bool]:
        return [kept.get(key, owner) is not None for key in keys]

    first, second, third, fourth = (kept.add(whole(10), owner) for _ in range(4))
    assert present(first, second, third, fourth) == [False, True, True, True]
    now = 5.0
    large = kept.add(whole(85), owner)
    assert present(second, third, fourth, large) == [False, False, True, True]
    now = 10.0
    assert present(fourth, large) == [False, True]
    now = 15.0
    assert present(large) == [False]
    assert present(kept.add(whole(100), owner)) == [True]
