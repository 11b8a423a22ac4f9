"""What every request must pass, whatever it asks for: Host, Origin and CORS (rows B-1 to B-3, B-11, B-15)."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import OPEN_MCP, Answer, Served, http_config
from tests.support.http_mcp import call, message, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUTES = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("OPTIONS", "/mcp"),
    ("GET", "/healthz"),
    ("HEAD", "/readyz"),
    ("GET", "/nothing"),
]
"""Every route there is, whoever contributed it, and what is none."""
PREFLIGHT = ("Access-Control-Request-Method", "POST")
LIST = modern(message("tools/list"))


async def listed(served: Served, *fields: tuple[str, str]) -> Answer:
    """A request that is sound but for what the test adds."""
    return await served.request("POST", "/mcp", [*mirrored(LIST), *fields], json.dumps(LIST).encode())


def cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.fields if name.startswith("Access-Control-")}


# --- Host

NOT_LOOPBACK = """
localhost:3000.evil.example localhost:3000:80 localhost:99999 localhost:0 localhost:-1 localhost:+80 localhost:80#
localhost:80/path localhost. .localhost local%68ost localhost%00.evil.example localhost#.evil.example
localhost?.evil.example localhost\\.evil.example localhost,evil.example user@localhost user:password@localhost:80
127.0.0.1:99999 127.1 127.0.0.1. 127.0.0.01 127.0.0.1%lo 0x7f.0.0.1 0177.0.0.1 2130706433 0.0.0.0
[::1].evil.example [::1]evil.example [::1]:80.evil.example [::1 ::1 [::1%lo] [::1%25lo] [v1.fe] [localhost] [127.0.0.1]
[::ffff:127.0.0.1]
"""
"""Hosts that only look like loopback, for a request and for an origin."""
NO_ORIGINS = ["http://localhost:", "http://localhost/", "http://localhost http://a", "http:/localhost", "x://localhost"]


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "10.0.0.1",
        "[::2]",
        "",
    ],
)
async def test_a_foreign_host(served: Served, method: str, path: str, host: str) -> None:
    answer = await served.request(method, path, [("Host", host)])
    assert answer.status == 421
    assert answer.get("Server") == "pegboard"


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:8000",
        "127.0.0.2",
        "[::1]",
        "[::1]:80",
        "[0:0::1]",
        "localhost:",
    ],
)
async def test_loopback_s_own_names(served: Served, host: str) -> None:
    assert (await listed(served, ("Host", host))).status == 200


@pytest.mark.requirement("SEC-01", "HTTP-02")
async def test_what_only_looks_like_loopback(served: Served) -> None:
    hosts = NOT_LOOPBACK.split()
    asked = [("Host", host, 421) for host in hosts]
    asked += [("Origin", origin, 403) for origin in (*NO_ORIGINS, *(f"http://{host}" for host in hosts))]
    async with await served.connect() as line:
        answers = [(await line.request("GET", "/healthz", [(name, value)])).status for name, value, _ in asked]
    assert [one for one, status in zip(asked, answers, strict=True) if status != one[2]] == []


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize("hosts", [[], ["localhost", "localhost"], ["localhost", "evil.example"]])
async def test_exactly_one_host(served: Served, hosts: list[str]) -> None:
    lines = "".join(f"Host: {host}\r\n" for host in hosts)
    async with await served.connect() as line:
        await line.send(f"GET /healthz HTTP/1.1\r\n{lines}\r\n".encode())
        assert (await line.answer()).status == 400


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://localhost/healthz", 200),
        ("http://evil.example/healthz", 400),
        ("http://localhost@evil.example/healthz", 400),
        ("http://LOCALHOST/healthz", 200),
        ("http://localhost:80/healthz", 200),
        ("http://localhost:81/healthz", 400),
        ("http://user@localhost/healthz", 400),
        ("http://localhost:80.evil.example/healthz", 400),
    ],
)
async def test_a_target_that_names_a_host_names_the_same(served: Served, target: str, status: int) -> None:
    """RFC 9112 section 3.2.2."""
    assert (await served.request("GET", target)).status == status


async def test_no_proxy(served: Served) -> None:
    async with await served.connect() as line:
        await line.send(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
        assert (await line.answer()).status in {400, 421}


# --- Origin


@pytest.mark.requirement("HTTP-02")
@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://localhost.evil.example",
        "file://",
        "http://[",
        "",
        "http://localhost@evil",
    ],
)
async def test_a_foreign_origin(served: Served, method: str, path: str, origin: str) -> None:
    answer = await served.request(method, path, [("Origin", origin)])
    assert answer.status == 403
    assert cors(answer) == {}
    assert (await served.request(method, path, [("Origin", origin), PREFLIGHT])).status == 403


@pytest.mark.requirement("HTTP-02")
async def test_two_origins(served: Served) -> None:
    answer = await listed(served, ("Origin", "http://localhost"), ("Origin", "http://evil.example"))
    assert answer.status in {400, 403}


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "http://127.0.0.1:8000", "http://[::1]:1"]
)
async def test_a_page_of_this_machine(served: Served, origin: str) -> None:
    answer = await listed(served, ("Origin", origin))
    assert answer.status == 200
    assert cors(answer) == {}


# --- CORS


@pytest.mark.parametrize("origin", ["https://app.example", "https://other.example:8443", "https://sso.example:443"])
async def test_a_listed_origin(strict: Served, origin: str) -> None:
    answer = await listed(strict, ("Origin", origin))
    assert cors(answer) == {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Expose-Headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
    }
    assert answer.get("Vary") == "Origin"


@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/nothing"])
async def test_a_preflight_of_a_listed_origin(strict: Served, path: str) -> None:
    answer = await strict.request("OPTIONS", path, [("Origin", "https://app.example"), PREFLIGHT])
    assert (answer.status, answer.body) == (204, b"")
    fields = cors(answer)
    assert fields["Access-Control-Allow-Origin"] == "https://app.example"
    assert fields["Access-Control-Allow-Methods"] == "GET, POST, DELETE"
    assert {"Content-Type", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Authorization"} <= set(
        fields["Access-Control-Allow-Headers"].split(", ")
    )


async def test_a_preflight_may_ask_for_headers_of_arguments(strict: Served) -> None:
    asked = (
        "Access-Control-Request-Headers",
        "content-type, mcp-param-region,Mcp-Param-X-Dry.Run, mcp-param-, x-other, mcp-param-a b",
    )
    answer = await strict.request("OPTIONS", "/mcp", [("Origin", "https://app.example"), PREFLIGHT, asked])
    allowed = cors(answer)["Access-Control-Allow-Headers"].split(", ")
    assert [name for name in allowed if name.lower().startswith("mcp-param")] == [
        "mcp-param-region",
        "Mcp-Param-X-Dry.Run",
    ]
    assert "x-other" not in allowed
    foreign = await strict.request("OPTIONS", "/mcp", [("Origin", "https://other.example"), PREFLIGHT, asked])
    assert "mcp-param-region" not in (foreign.get("Access-Control-Allow-Headers") or "")


@pytest.mark.requirement("HTTP-02")
@pytest.mark.parametrize("origin", ["http://app.example", "https://app.example:444", "https://sub.app.example", "null"])
async def test_an_origin_that_only_looks_listed(strict: Served, origin: str) -> None:
    assert (await strict.request("OPTIONS", "/mcp", [("Origin", origin), PREFLIGHT])).status == 403


async def test_a_stream_says_it_too(strict: Served) -> None:
    one = modern(call("fixture_count", token="p"))
    fields = [*mirrored(one), ("Origin", "https://app.example")]
    answer = await strict.request("POST", "/mcp", fields, json.dumps(one).encode())
    assert answer.get("Content-Type") == "text/event-stream"
    assert answer.get("Access-Control-Allow-Origin") == "https://app.example"


async def test_errors_say_it_too(strict: Served) -> None:
    """A page that may not read an error does not learn what it did wrong."""
    answer = await strict.request("POST", "/mcp", [("Origin", "https://app.example")], b"x")
    assert answer.status == 415
    assert answer.get("Access-Control-Allow-Origin") == "https://app.example"


async def test_everybody_but_without_credentials(fixture_site: Path) -> None:
    config = 'port = 0\ncors_origins = "*"\ncors_methods = ["POST"]\ncors_headers = ["Mcp-Param-City"]'
    async with Served(fixture_site, http_config(config)) as served:
        answer = await listed(served, ("Origin", "https://any.example"))
        assert cors(answer)["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in cors(answer)
        assert (await listed(served, ("Origin", "null"))).status == 403
        preflight = await served.request("OPTIONS", "/mcp", [("Origin", "https://any.example"), PREFLIGHT])
        assert cors(preflight)["Access-Control-Allow-Methods"] == "POST"
        assert "Mcp-Param-City" in cors(preflight)["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('cors_origins = "*"\ncors_credentials = true', "credentials"),
        ('cors_origins = ["null"]', "null"),
        ('cors_origins = ["app.example"]', "app.example"),
        ('cors_origins = ["https://app.example/path"]', "app.example/path"),
        ('allowed_hosts = ["https://tools.example"]', "write a name, such as tools.example.com"),
        ('trusted_proxies = ["proxy.example"]', "trusted_proxies"),
        ('trusted_proxies = ["unix"]', "socket"),
        ('key = "key.pem"', "certificate"),
    ],
)
async def test_a_setting_that_makes_no_sense_ends_the_start(fixture_site: Path, config: str, said: str) -> None:
    async with Served(fixture_site, http_config(config), ready=False) as served:
        assert await served.wait() == 3
        assert said in served.stderr


# --- beyond loopback, and proxies

SECRET = {"SECRET_KEY": "s3cret"}


async def names(served: Served, *fields: tuple[str, str]) -> list[str]:
    answer = await listed(served, *fields)
    assert answer.status == 200, answer
    return [tool["name"] for tool in answer.json["result"]["tools"]]


async def call_tool(served: Served, name: str, *fields: tuple[str, str]) -> Any:
    one = modern(call(name))
    return (await served.request("POST", "/mcp", [*mirrored(one), *fields], json.dumps(one).encode())).json


UNPROVEN = "the server does not know the caller. Its operator can send the operator token as `Authorization: Bearer`"
PAGE = ("Origin", "http://localhost:3000")


async def peeked(served: Served, *fields: tuple[str, str]) -> str:
    """Call the tool that tells the secret: the secret, or why not."""
    (content,) = (await call_tool(served, "vault_peek", *fields))["result"]["content"]
    return "it needs proof" if UNPROVEN in content["text"] else str(content["text"])


@pytest.mark.requirement("LIST-04", "LIST-10", "TOOL-09", "LIST-09", "ASK-27")
async def test_tools_with_secrets_are_listed_for_all_and_run_for_the_operator(vault: Path) -> None:
    """A loopback port proves nothing: a proxy that says nothing of itself passes on requests that look like these."""
    async with Served(vault, http_config(), env=SECRET) as served:
        token = served.proof[1].removeprefix("Bearer ")
        right = [("Authorization", given) for given in (f"Bearer {token}", f"bearer  {token}")]
        wrong = [("Authorization", given) for given in (token, f"Bearer {token}x", "Bearer x", f"Basic {token}")]
        for field in [*right, *wrong]:
            assert await peeked(served, field) == ("s3cret" if field in right else "it needs proof")
            assert await names(served, field) == ["vault_peek", "vault_plain"]
            assert (await call_tool(served, "vault_plain", field))["result"]["isError"] is False
        assert await peeked(served, *right) == await peeked(served) == "it needs proof"
        assert await peeked(served, right[0], PAGE) == "s3cret"  # who has the token is the operator
        assert (await listed(served)).json["result"]["cacheScope"] == "public"
        assert "operator only, as they use secrets or tokens: 1 (vault_peek)" in served.stderr
        assert "s3cret" not in served.stderr
        assert token not in served.stderr


@pytest.mark.parametrize(
    ("field", "found"),
    [
        (None, "s3cret"),
        *((("Sec-Fetch-Site", "same-site"), "it needs proof"), (PAGE, "it needs proof")),
        *(((name, "localhost"), "it needs proof") for name in ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded")),
        *(((name, "localhost"), "it needs proof") for name in ("X-Real-IP", "Via")),
        (("Host", "tools.example"), "it needs proof"),
    ],
    ids=str,
)
async def test_loopback_is_the_operator_where_settings_say_so(
    vault: Path, field: tuple[str, str] | None, found: str
) -> None:
    """Still not by a proxy that says that it is one, and not from a web page of this machine."""
    config = http_config('port = 0\nloopback_is_operator = true\nallowed_hosts = ["tools.example"]')
    async with Served(vault, config, env=SECRET) as served:
        assert await peeked(served, *([field] if field else [])) == found


async def test_hosts_beyond_loopback(fixture_site: Path) -> None:
    config = http_config(
        'host = "0.0.0.0"\nport = 0\nallowed_hosts = ["Tools.example", "other.example:8443"]', more=OPEN_MCP
    )
    async with Served(fixture_site, config) as served:
        own = socket.gethostname()
        for host in ("tools.example", "tools.example:1", "OTHER.example:8443", "192.0.2.1:80", "[2001:db8::1]:80", own):
            assert (await listed(served, ("Host", host))).status == 200, host
        for host in ("evil.example", "other.example", "other.example:1", "sub.tools.example"):
            assert (await listed(served, ("Host", host))).status == 421, host
        # the server's own origin may call it, but a name that was made to point here is not its own
        assert (await listed(served, ("Host", "tools.example"), ("Origin", "https://tools.example"))).status == 200
        assert (await listed(served, ("Host", "tools.example"), ("Origin", "http://localhost:3000"))).status == 403


@pytest.mark.requirement("HTTP-02")
async def test_any_host_is_no_reason_to_trust_its_pages(fixture_site: Path) -> None:
    async with Served(
        fixture_site, http_config('host = "0.0.0.0"\nport = 0\nallowed_hosts = ["*"]', more=OPEN_MCP)
    ) as served:
        assert (await listed(served, ("Host", "any.example"))).status == 200
        assert (await listed(served, ("Host", "any.example:99999"))).status == 421
        assert (await listed(served, ("Host", "evil.example"), ("Origin", "http://evil.example"))).status == 403


@pytest.mark.parametrize(
    ("proxies", "cases"),
    [
        ([], [("inner.example", "localhost", 421), ("localhost", "evil.example", 200)]),
        (["10.0.0.0/8"], [("inner.example", "localhost", 421)]),
        (
            ["127.0.0.0/8"],
            [
                ("inner.example", "localhost", 200),
                ("localhost", "evil.example", 421),
                ("localhost", "evil.example, localhost", 200),
                ("localhost", "localhost, evil.example", 421),
            ],
        ),
    ],
)
async def test_forwarded_hosts(fixture_site: Path, proxies: list[str], cases: list[tuple[str, str, int]]) -> None:
    """B-15: the last is what the nearest proxy says; others before it came from the client."""
    async with Served(fixture_site, http_config(f"port = 0\ntrusted_proxies = {proxies}", more=OPEN_MCP)) as served:
        for host, forwarded, status in cases:
            assert (await listed(served, ("Host", host), ("X-Forwarded-Host", forwarded))).status == status
