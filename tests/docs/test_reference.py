"""The reference pages, and the numbers on other pages, say what the code says."""

from __future__ import annotations

import re

import pytest

from pegboard.cli import CANNOT_OPEN, CANNOT_START, FAILED, INTERRUPTED, OK, USAGE
from pegboard.config import HostSection
from pegboard.loading.plugin_facts import own_facts
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
from tools.install import ROOT
from tools.reference import DOCS, PAGES, TEMPLATES, templates

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


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_code_s(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run `python -m tools.reference`"


def test_the_templates_are_the_examples() -> None:
    copies = {name: (TEMPLATES / name).read_text("utf-8") for name in templates()}
    assert copies == templates(), "run `python -m tools.reference`"


def test_every_key_has_a_meaning() -> None:
    rows = [row for row in PAGES["configuration.md"]().splitlines() if row.startswith("- `")]
    assert len(rows) > 20
    assert all(row.partition(": ")[2] for row in rows)


def test_every_exit_code_and_every_variable_that_the_code_reads_has_a_meaning() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGES["command-line.md"](), re.M)}
    assert codes == {CANNOT_OPEN, CANNOT_START, FAILED, INTERRUPTED, OK, USAGE}
    sources = [path.read_text("utf-8") for folder in ("host", "plugins") for path in (ROOT / folder).rglob("*.py")]
    read = set(re.findall(r"""environ(?:\.get\(|\[|\.pop\(|, )"(\w+)\"""", "".join(sources)))
    names = {*read, *(name for facts in own_facts().values() for name in facts.environment)}
    assert {"XDG_STATE_HOME", "ARCADE_WORKER_SECRET"} <= names
    assert names <= set(re.findall(r"^- `(\w+)`", PAGES["environment.md"](), re.M))
