"""The adapters of vendors' libraries keep the contract of adapters, with what their real clients raise."""

from __future__ import annotations

import pytest

from tests.plugins.errors_http.service import Service, answer
from tests.plugins.errors_vendors import test_google, test_graphql, test_microsoft, test_slack
from tests.plugins.errors_vendors.conftest import Program

GRAPHQL = test_graphql.says({"type": "NOT_FOUND"})


@pytest.mark.parametrize(
    ("tool", "slug", "path", "sent"),
    [
        ("slack", "_slack_sdk", test_slack.POST, test_slack.says(200, "channel_not_found")),
        ("slack_async", "_slack_sdk", test_slack.POST, test_slack.says(200, "channel_not_found")),
        ("google", "_google_api_client", test_google.FILE, test_google.says(404, reason="notFound")),
        ("graph", "_microsoft_graph", test_microsoft.USER, test_microsoft.says(404, "itemNotFound")),
        ("gql_requests", "_graphql", "/graphql", GRAPHQL),
        ("gql_aiohttp", "_graphql", "/graphql", GRAPHQL),
        ("gql_httpx", "_graphql", "/graphql", GRAPHQL),
    ],
)
@pytest.mark.parametrize("limited", [False, True])
def test_no_rule_is_broken(
    tool: str, slug: str, path: str, sent: bytes, limited: bool, program: Program, service: Service
) -> None:
    if limited:
        sent = answer(429, {"Retry-After": "3"})
    service.answers[path] = sent
    gives = "UpstreamRateLimitError" if limited else "UpstreamError"
    url = service.root if path != "/graphql" else f"{service.root}/graphql"
    assert program.call("contract", tool=tool, slug=slug, gives=gives, url=url) == {}
