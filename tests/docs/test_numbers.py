"""The numbers on the pages are the numbers of the code."""

from __future__ import annotations

import pytest

from pegboard.config import HostSection
from pegboard_plugins.auth.resource_server.introspection import (
    MAX_ASKED,
    MAX_ASKED_PER_PEER,
    MAX_CONCURRENT,
    MAX_CONCURRENT_PER_PEER,
    REFUSED_SECONDS,
)
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig
from pegboard_plugins.support.refusal_log import MAX_LINES
from pegboard_plugins.support.secret_strength import SECRET_BYTES
from pegboard_plugins.transports.http.settings import HttpConfig
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
    ],
    "http-authentication": [
        f"at most {MAX_CONCURRENT} requests at once, {MAX_CONCURRENT_PER_PEER} of them for one peer",
        f"Up to {MAX_ASKED} tokens wait, {MAX_ASKED_PER_PEER} of one peer",
        f"a refusal for {REFUSED_SECONDS:g} seconds at most",
        f"{MAX_CONCURRENT} more requests may run at once",
        f"no more than {MAX_LINES} lines a minute",
        f"shorter than {SECRET_BYTES} characters",
        *(f"`{name}` ({SERVER[name]})" for name in ("fetch_seconds", "introspected_seconds")),
    ],
}


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_has_the_numbers_of_the_code(page: str) -> None:
    words = Page(f"docs/{page}.md").words
    assert [text for text in TEXTS[page] if text not in words] == []
