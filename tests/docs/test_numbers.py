"""The numbers on the pages are the numbers of the code."""

from __future__ import annotations

import tomllib

import pytest

from pegboard.calls import deadlines, threads
from pegboard.catalogue.option_checks import MAX_DESCRIPTION_CHARACTERS, MAX_TITLE_CHARACTERS
from pegboard.catalogue.shown_texts import MAX_PROPERTY_CHARACTERS
from pegboard.catalogue.tool_compiler import MAX_SCHEMA_BYTES
from pegboard.config import HostSection
from pegboard.context.interaction import ANSWER_SECONDS
from pegboard.context.rounds import MAX_ROUNDS, MAX_STEP_RESULTS_BYTES
from pegboard.plugin import SECRET_BYTES, fingerprint
from pegboard.routing.refusal_log import MAX_LINES, PERIOD_SECONDS
from pegboard.schemas import json_schema
from pegboard_plugins.http import HttpConfig
from pegboard_plugins.mcp import McpConfig
from pegboard_plugins.rate_limit import RateLimitConfig
from pegboard_plugins.resource_server import ResourceServerConfig
from pegboard_plugins.resource_server.introspection import MAX_CONCURRENT, MAX_CONCURRENT_PER_PEER
from pegboard_plugins.resource_server.introspection_queue import MAX_ASKED, MAX_ASKED_PER_PEER, REFUSED_SECONDS
from tests.docs.pages import Page

HOST = {name: field.default for name, field in HostSection.model_fields.items()}
HTTP = HttpConfig()
SERVER = {name: field.default for name, field in ResourceServerConfig.model_fields.items()}
TEXTS = {
    "behind-a-proxy": [
        f"client_max_body_size {HTTP.max_body_bytes // 2**20}m;",
        f"large_client_header_buffers 4 {HTTP.max_header_bytes // 2**10}k;",
        f"`stream_ping_seconds` ({HTTP.stream_ping_seconds:g})",
    ],
    "concurrency": [
        f"{HOST['tool_timeout']} seconds unless set",
        f"threads, {HOST['threads']} unless set",
        f"{HOST['max_result_bytes'] // 1024 // 1024} MiB unless set",
        f"`[host] blocked_loop_seconds`, {HOST['blocked_loop_seconds']} unless set",
        "has two seconds to clean up",
        "more than five seconds",
    ],
    "elicitation": [
        "at most twenty rounds",
        f"{MAX_STEP_RESULTS_BYTES // 1024} KiB",
        f"{ANSWER_SECONDS:.0f} seconds",
        "ten minutes",
    ],
    "http-authentication": [
        f"asked {MAX_CONCURRENT} questions at once, {MAX_CONCURRENT_PER_PEER} of them for one peer",
        f"Up to {MAX_ASKED} tokens wait, {MAX_ASKED_PER_PEER} of one peer",
        f"a refusal for {REFUSED_SECONDS:g} seconds at most",
        f"lane with {MAX_CONCURRENT} places",
        f"no more than {MAX_LINES} lines a minute",
        f"shorter than {SECRET_BYTES} characters",
        *(
            f"`{name}` ({SERVER[name]})"
            for name in SERVER
            if name.endswith("_seconds") and name not in ("max_age_seconds", "leeway_seconds")
        ),
        "known keys serve until they are `max_age_seconds` (a day) old",
        "more than the 30 seconds of",
    ],
    "middleware": ["6,000 calls a minute and bursts of 600"],
    "schemas": [
        f"{MAX_SCHEMA_BYTES // 1024} KiB",
        f"{json_schema.MAX_SCHEMA_DEPTH} levels",
        f"{json_schema.MAX_SUBSCHEMAS:,} subschemas",
        f"{json_schema.MAX_SUBSCHEMA_VISITS:,} of them",
    ],
    "types": [
        f"description has at most {MAX_DESCRIPTION_CHARACTERS:,}",
        f"title {MAX_TITLE_CHARACTERS:,}",
        f"name {MAX_PROPERTY_CHARACTERS:,}",
    ],
}


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_has_the_numbers_of_the_code(page: str) -> None:
    words = Page(f"docs/{page}.md").words
    assert [text for text in TEXTS[page] if text not in words] == []


def test_the_numbers_that_pages_write_in_words() -> None:
    assert (deadlines.MAX_CLEANUP_SECONDS, threads.LONG_WAIT_SECONDS) == (2, 5)
    assert (MAX_ROUNDS, McpConfig().state_seconds) == (20, 600)
    assert (PERIOD_SECONDS, len(fingerprint("x"))) == (60, 12)
    assert (SERVER["max_age_seconds"], SERVER["leeway_seconds"]) == (24 * 3600, 30)
    assert (RateLimitConfig().calls_per_minute, RateLimitConfig().burst) == (6000, 600)


def test_the_settings_of_the_proxy_page_are_valid() -> None:
    page = Page("docs/behind-a-proxy.md")
    for name in ("toml file=hostconfig.toml", "toml socket"):
        HttpConfig.model_validate(tomllib.loads(page.blocks[name])["plugins"]["http"])
