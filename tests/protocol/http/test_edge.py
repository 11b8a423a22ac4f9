"""The request guard: Host, Origin, CORS and proxies, for every route."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard_plugins.transports.http.settings import HttpConfig
from tests.support.distributions import make_distribution
from tests.support.http import LEAKS, OPEN_MCP, Answer, Served, http_config
from tests.support.http_mcp import call, message, post

ROUTES = [
    *((method, "/mcp") for method in ("POST", "GET", "DELETE", "OPTIONS")),
    *(("GET", "/healthz"), ("HEAD", "/readyz"), ("GET", "/nothing")),
]
"""Every route, and a path without a route."""
PREFLIGHT = ("Access-Control-Request-Method", "POST")
APP = ("Origin", "https://app.example")


async def listed(served: Served, *fields: tuple[str, str]) -> Answer:
    """A sound request with further header fields."""
    return await post(served, message("tools/list"), *fields)


def cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.fields if name.startswith("Access-Control-")}


FOREIGN = r"""
evil.example localhost.evil.example localhost@evil.example 10.0.0.1 [::2] localhost:3000.evil.example localhost:3000:80
localhost:99999 localhost:0 localhost:-1 localhost:+80 localhost:80/path localhost. .localhost local%68ost
localhost%00.evil.example localhost#.evil.example localhost\.evil.example localhost,evil.example user@localhost
127.1 127.0.0.01 127.0.0.1%lo 0x7f.0.0.1 2130706433 0.0.0.0 [::1].evil.example [::1]evil.example [::1 ::1 [::1%25lo]
[v1.fe] [localhost] [127.0.0.1] [::ffff:127.0.0.1]
"""
"""Hosts that are not loopback, for a request and for an origin."""
NO_ORIGINS = ["http://localhost:", "http://localhost/", "http://localhost http://a", "http:/localhost", "x://localhost"]
NO_ORIGINS += ["null", "https://localhost.evil.example", "file://", "http://[", "", "http://localhost@evil"]


@pytest.mark.requirement("HTTP-02", "SEC-01")
async def test_a_foreign_host_or_origin_is_refused_at_every_route(served: Served) -> None:
    async with await served.connect() as line:
        for method, path in ROUTES:
            answer = await line.request(method, path, [("Host", "evil.example")])
            assert (answer.status, answer.get("Server")) == (421, "pegboard"), (method, path)
            for fields in ([("Origin", "http://evil.example")], [("Origin", "null"), PREFLIGHT]):
                answer = await line.request(method, path, fields)
                assert (answer.status, cors(answer)) == (403, {}), (method, path)
    cases = [("Host", host, 421) for host in (*FOREIGN.split(), "")]
    cases += [("Origin", origin, 403) for origin in (*NO_ORIGINS, *(f"http://{host}" for host in FOREIGN.split()))]
    async with await served.connect() as line:
        answers = [(await line.request("GET", "/healthz", [(name, value)])).status for name, value, _ in cases]
    assert [case for case, status in zip(cases, answers, strict=True) if status != case[2]] == []
    twice = await listed(served, ("Origin", "http://localhost"), ("Origin", "http://evil.example"))
    assert twice.status in {400, 403}


@pytest.mark.requirement("SEC-01")
async def test_the_names_of_loopback_and_pages_of_this_machine_are_served(served: Served) -> None:
    names = "localhost LOCALHOST:1 127.0.0.1:8000 127.0.0.2 [::1] [::1]:80 [0:0::1] localhost:"
    for host in names.split():
        assert (await listed(served, ("Host", host))).status == 200, host
    for origin in ("http://localhost", "http://localhost:3000", "http://127.0.0.1:8000", "http://[::1]:1"):
        answer = await listed(served, ("Origin", origin))
        assert (answer.status, cors(answer)) == (200, {}), origin


@pytest.mark.requirement("SEC-01")
async def test_a_request_names_exactly_one_host(served: Served) -> None:
    """RFC 9112 section 3.2.2: a target with a host names the same."""
    for hosts in ([], ["localhost", "localhost"], ["localhost", "evil.example"]):
        lines = "".join(f"Host: {host}\r\n" for host in hosts)
        async with await served.connect() as line:
            await line.send(f"GET /healthz HTTP/1.1\r\n{lines}\r\n".encode())
            assert (await line.answer()).status == 400
    for host, status in {
        **dict.fromkeys(("localhost", "LOCALHOST", "localhost:80"), 200),
        **dict.fromkeys(("evil.example", "localhost@evil.example", "localhost:81", "user@localhost"), 400),
        "localhost:80.evil.example": 400,
    }.items():
        assert (await served.request("GET", f"http://{host}/healthz")).status == status, host
    async with await served.connect() as line:
        await line.send(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
        assert (await line.answer()).status in {400, 421}


async def test_a_listed_origin_may_read_responses_errors_and_streams(strict: Served) -> None:
    for origin in ("https://app.example", "https://other.example:8443", "https://sso.example:443"):
        answer = await listed(strict, ("Origin", origin))
        assert cors(answer) == {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Credentials": "true",
            "Access-Control-Expose-Headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
        }
        assert answer.get("Vary") == "Origin"
    stream = await post(strict, call("fixture_count", token="p"), APP)
    error = await strict.request("POST", "/mcp", [APP], b"x")
    assert (stream.get("Content-Type"), error.status) == ("text/event-stream", 415)
    assert stream.get("Access-Control-Allow-Origin") == error.get("Access-Control-Allow-Origin") == APP[1]


@pytest.mark.requirement("HTTP-02")
async def test_preflights(strict: Served) -> None:
    wanted = "content-type, mcp-param-region,Mcp-Param-X-Dry.Run, mcp-param-, x-other, mcp-param-a b"
    field = ("Access-Control-Request-Headers", wanted)
    for path in ("/mcp", "/nothing"):
        answer = await strict.request("OPTIONS", path, [APP, PREFLIGHT, field])
        assert (answer.status, answer.body) == (204, b"")
        fields = cors(answer)
        assert fields["Access-Control-Allow-Origin"] == APP[1]
        assert fields["Access-Control-Allow-Methods"] == "GET, POST, DELETE"
        allowed = fields["Access-Control-Allow-Headers"].split(", ")
        own = {"Content-Type", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Authorization"}
        assert own <= set(allowed)
        if path == "/mcp":
            parameters = [name for name in allowed if name.lower().startswith("mcp-param")]
            assert parameters == ["mcp-param-region", "Mcp-Param-X-Dry.Run"]
        assert "x-other" not in allowed
    for origin in ("http://app.example", "https://app.example:444", "https://sub.app.example", "null"):
        assert (await strict.request("OPTIONS", "/mcp", [("Origin", origin), PREFLIGHT, field])).status == 403


async def test_invalid_settings_are_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"cors_origins": "*", "cors_credentials": True}, "credentials"),
        ({"cors_origins": ["null"]}, "null"),
        ({"cors_origins": ["https://app.example/path"]}, "app.example/path"),
        ({"allowed_hosts": ["https://tools.example"]}, "use a name such as tools.example.com"),
        ({"trusted_proxies": ["proxy.example"]}, "proxy.example"),
        ({"trusted_proxies": ["unix"]}, "socket"),
        ({"key": "key.pem"}, "certificate"),
    ]
    for settings, text in wrong:
        with pytest.raises(ValueError, match=text):
            HttpConfig(**settings)


SECRET = {"SECRET_KEY": "s3cret"}
UNPROVEN = "the server does not know the caller. Its operator can send the operator token as `Authorization: Bearer`"
PAGE = ("Origin", "http://localhost:3000")


async def peeked(served: Served, *fields: tuple[str, str]) -> str:
    """Call the tool that returns the secret; return it, or why it was refused."""
    (content,) = (await post(served, call("vault_peek"), *fields)).json["result"]["content"]
    return "unproven" if UNPROVEN in content["text"] else str(content["text"])


@pytest.mark.requirement("ASK-27", "LIST-04", "LIST-09", "LIST-10", "TOOL-09")
async def test_tools_with_secrets_are_listed_for_all_and_run_for_the_operator(vault: Path) -> None:
    """A loopback port proves nothing: a silent proxy forwards requests that look like local ones."""
    async with Served(vault, http_config(), env=SECRET) as served:
        token = served.proof[1].removeprefix("Bearer ")
        right = [("Authorization", credentials) for credentials in (f"Bearer {token}", f"bearer  {token}")]
        wrong = [("Authorization", credentials) for credentials in (token, f"Bearer {token}x", f"Basic {token}")]
        for field in [*right, *wrong]:
            assert await peeked(served, field) == ("s3cret" if field in right else "unproven")
            answer = await listed(served, field)
            assert [tool["name"] for tool in answer.json["result"]["tools"]] == ["vault_peek", "vault_plain"]
            assert (await post(served, call("vault_plain"), field)).json["result"]["isError"] is False
        assert await peeked(served, *right) == await peeked(served) == "unproven"
        assert await peeked(served, right[0], PAGE) == "s3cret"  # the token proves the operator, from a page too
        assert (await listed(served)).json["result"]["cacheScope"] == "public"
        assert (
            "operator only, as each uses secrets, tokens or metadata of the operator: 1 (vault_peek)" in served.stderr
        )
        assert "s3cret" not in served.stderr
        assert token not in served.stderr


async def test_loopback_is_the_operator_where_configured_but_not_through_proxies_and_pages(vault: Path) -> None:
    config = http_config('port = 0\nloopback_is_operator = true\nallowed_hosts = ["tools.example"]')
    proxies = [(name, "localhost") for name in ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via")]
    async with Served(vault, config, env=SECRET) as served:
        assert await peeked(served) == "s3cret"
        for field in (*proxies, PAGE, ("Sec-Fetch-Site", "same-site"), ("Host", "tools.example")):
            assert await peeked(served, field) == "unproven", field


@pytest.mark.requirement("HTTP-02")
async def test_hosts_beyond_loopback(fixture_site: Path) -> None:
    http = 'host = "0.0.0.0"\nport = 0\nallowed_hosts = ["Tools.example", "other.example:8443"]'
    async with Served(fixture_site, http_config(http, more=OPEN_MCP)) as served:
        own = socket.gethostname()
        for host in ("tools.example", "tools.example:1", "OTHER.example:8443", "192.0.2.1:80", "[2001:db8::1]:80", own):
            assert (await listed(served, ("Host", host))).status == 200, host
        for host in ("evil.example", "other.example", "other.example:1", "sub.tools.example"):
            assert (await listed(served, ("Host", host))).status == 421, host
        # the server's own origin may call it, but a name that was made to point here is not its own
        assert (await listed(served, ("Host", "tools.example"), ("Origin", "https://tools.example"))).status == 200
        assert (await listed(served, ("Host", "tools.example"), ("Origin", "http://localhost:3000"))).status == 403
    http = 'port = 0\nallowed_hosts = ["*"]\ncors_origins = "*"\ncors_methods = ["POST"]'
    async with Served(fixture_site, http_config(http, more=OPEN_MCP)) as served:
        assert (await listed(served, ("Host", "any.example"))).status == 200
        assert (await listed(served, ("Host", "any.example:99999"))).status == 421
        answer = await listed(served, ("Origin", "https://any.example"))
        assert cors(answer)["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in cors(answer)
        assert (await listed(served, ("Origin", "null"))).status == 403


async def test_the_nearest_trusted_proxy_names_the_host(served: Served, fixture_site: Path) -> None:
    """The last entry is from the nearest proxy; others before it came from the client."""
    cases = [("inner.example", "localhost", 421, 200), ("localhost", "evil.example", 200, 421)]
    cases += [("localhost", "evil.example, localhost", 200, 200), ("localhost", "localhost, evil.example", 200, 421)]
    async with Served(fixture_site, http_config('port = 0\ntrusted_proxies = ["127.0.0.0/8"]', more=OPEN_MCP)) as other:
        for host, forwarded, alone, behind in cases:
            fields = [("Host", host), ("X-Forwarded-Host", forwarded)]
            assert [(await listed(server, *fields)).status for server in (served, other)] == [alone, behind]


PLUGIN = """\
from pegboard.plugin import Plugin, Route, hookimpl
from pegboard.types import EventStream, Response


class Pages(Plugin):
    @hookimpl
    def register_routes(self):
        return [
            Route("GET", "/page", page),
            Route("POST", "/page", page),
            Route("GET", "/open", page, auth="public"),
            Route("GET", "/events", events),
            Route("GET", "/broken", broken),
        ]


async def page(request, host):
    return Response(201, repr(dict(request.query)).encode() + request.body, "text/plain", {"X-Page": "yes"})


async def events(request, host):
    async def say():
        for number in range(3):
            yield b"%d" % number

    return EventStream(say(), {"X-Page": "yes"})


async def broken(request, host):
    raise KeyError("canary-7f3a91")
"""
KIT = """\
from pegboard import Toolkit

kit = Toolkit("work")


@kit.tool(scopes=["work"])
def labour() -> str:
    \"\"\"Work.\"\"\"
    return "done"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server with routes of a third-party plugin."""
    site = tmp_path_factory.mktemp("pages")
    points = {"pegboard.plugins": {"pages": "acme_pages:Pages"}}
    make_distribution(site, "acme-pages", "1", points, {"acme_pages.py": PLUGIN})
    http = 'port = 0\nmax_body_bytes = 2000\ncors_origins = ["https://app.example"]'
    async with Served(site, http_config(http, more="[plugins.pages]")) as served:
        yield served


@pytest.mark.requirement("HTTP-02", "SEC-01")
async def test_guard_limits_and_masking_hold_for_routes_of_plugins(pages: Served) -> None:
    for path in ("/page", "/open", "/events"):
        for field, status in ((("Host", "evil.example"), 421), (("Origin", "null"), 403)):
            answer = await pages.request("GET", path, [field])
            assert (answer.status, answer.get("X-Page")) == (status, None)
    assert (await pages.request("POST", "/page", body=b"!")).body == b"{}!"
    assert (await pages.request("POST", "/page", body=b"x" * 2001)).status == 413
    assert (await pages.request("GET", "/events")).body == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
    assert (await pages.request("GET", "/page", [APP])).get("Access-Control-Allow-Origin") == APP[1]
    broken = await pages.request("GET", "/broken")
    assert broken.status == 500
    assert not [leak for leak in (*LEAKS, "canary") if leak in broken.text + str(broken.fields)]


async def test_a_host_without_mcp_over_http_names_its_paths_and_says_why_tools_are_closed(tmp_path: Path) -> None:
    points = {"pegboard.plugins": {"pages": "acme_pages:Pages"}, "pegboard.toolkits": {"work": "work_kit:kit"}}
    make_distribution(tmp_path, "acme-pages", "1", points, {"acme_pages.py": PLUGIN, "work_kit.py": KIT})
    async with Served(tmp_path, http_config(more="[plugins.mcp]\nhttp = false\n[plugins.pages]")) as served:
        await served.wait_for_stderr(r"MCP is not served there; the paths are /broken, /events, /page\n")
        assert served.url == f"http://127.0.0.1:{served.port}"
        assert "operator only, as each requires scopes: 1 (work_labour)" in served.stderr
        assert "MCP client" not in served.stderr
