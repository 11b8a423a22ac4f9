"""JWT access tokens at the MCP endpoint, over sockets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pegboard_plugins.resource_server.servers import ALGORITHMS
from pegboard_plugins.worker.jwt_authenticator import create_token
from tests.plugins.resource_server.conftest import METADATA, listed, serve
from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, RSA_KEY, Issuer, made_key, public

pytestmark = pytest.mark.asyncio(loop_scope="session")

CHALLENGE = f'resource_metadata="{METADATA}", scope="work"'


def encoded(part: Any) -> str:
    text = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def unsigned(issuer: Issuer, algorithm: str, **header: Any) -> str:
    return f"{encoded({'alg': algorithm, 'typ': 'JWT', 'kid': 'one', **header})}.{encoded(issuer.claims())}."


def signed(issuer: Issuer, **header: Any) -> str:
    """Return a token with a header that the library would not write."""
    token = unsigned(issuer, "RS256", **header)
    algorithm = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256)
    return token + encoded(algorithm.sign(token.removesuffix(".").encode(), RSA_KEY))


def unchecked(issuer: Issuer, **changes: Any) -> str:
    """Return a token with claims that the library would not sign."""
    claims = json.dumps(issuer.claims(**changes)).encode()
    return jwt.PyJWS().encode(claims, RSA_KEY, algorithm="RS256", headers={"kid": "one"})


def confused(issuer: Issuer) -> str:
    """Return a token that is signed with the public key as if it were a shared secret."""
    pem = RSA_KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    one = jwt.encode(issuer.claims(), "x" * 32, algorithm="HS256", headers={"kid": "one"}).rpartition(".")[0]
    return f"{one}.{encoded(jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(one.encode(), pem))}"


def tampered(issuer: Issuer, claims: Any) -> str:
    head, _, signature = issuer.token().split(".")
    return f"{head}.{encoded(claims)}.{signature}"


def now() -> int:
    return int(time())


Made = Callable[[Issuer], str]
GOOD: dict[str, Made] = {
    "default": lambda one: one.token(),
    "one of several audiences": lambda one: one.token(aud=["https://other.example", RESOURCE]),
    "an audience in capitals": lambda one: one.token(aud="HTTPS://Tools.Example.COM/mcp"),
    "typ JWT": lambda one: one.token(header={"typ": "JWT"}),
    "typ in full": lambda one: one.token(header={"typ": "application/at+JWT"}),
    "signed by hand": signed,
    "no typ": lambda one: one.token(header={"typ": None}),
    "no kid": lambda one: one.token(header={"kid": None}),
    "25 KB": lambda one: one.token(groups=["x" * 100] * 200),
}
ALGORITHM, ORDER, AUDIENCE = "an algorithm that is not allowed", "The token is invalid.", "for another audience"
BAD: dict[str, tuple[Made, str]] = {
    "no JWT": (lambda one: "x", "The token is not a JWT."),
    "nonsense": (lambda one: "a.b.c", "The token is not a JWT."),
    "not UTF-8": (lambda one: "\x80\xff.\xe9.x", "The token is not a JWT."),
    "too deep": (lambda one: tampered(one, b"[" * 4000), "The token is not a JWT."),
    "no signature": (lambda one: unsigned(one, "none"), ALGORITHM),
    "no signature, capitals": (lambda one: unsigned(one, "nOnE"), ALGORITHM),
    "the public key as secret": (confused, ALGORITHM),
    "another algorithm": (lambda one: one.token(algorithm="RS512"), ALGORITHM),
    "another algorithm of the key": (lambda one: one.token(algorithm="PS256"), "does not have the key"),
    "another key": (lambda one: one.token(key=OTHER_RSA_KEY), "The signature of the token is wrong."),
    "changed claims": (lambda one: tampered(one, one.claims(sub="root")), "The signature of the token is wrong."),
    "a number as kid": (lambda one: signed(one, kid=1), ORDER),
    "an unknown kid": (lambda one: one.token(header={"kid": "two"}), "does not have the key"),
    "no exp": (lambda one: one.token(exp=None), "The token lacks exp."),
    "a string as exp": (lambda one: one.token(exp="soon"), ORDER),
    "a numeric string as exp": (lambda one: unchecked(one, exp=str(now() + 600)), ORDER),
    "a huge exp": (lambda one: one.token(exp=10**400), ORDER),
    "true as exp": (lambda one: one.token(exp=True), "The token has expired."),
    "another audience": (lambda one: one.token(aud="https://tools.example.com/"), AUDIENCE),
    "a longer audience": (lambda one: one.token(aud=RESOURCE + "/"), AUDIENCE),
    "other audiences": (lambda one: one.token(aud=["a", "b"]), AUDIENCE),
    "a number in aud": (lambda one: one.token(aud=[RESOURCE, 5]), AUDIENCE),
    "an object as aud": (lambda one: one.token(aud={RESOURCE: 1}), AUDIENCE),
    "no aud": (lambda one: one.token(aud=None), "The token lacks aud."),
    "another issuer": (lambda one: one.token(iss="https://evil.example"), "from another issuer"),
    "the issuer with a slash": (lambda one: one.token(iss=one.url + "/"), "from another issuer"),
    "a list as iss": (lambda one: unchecked(one, iss=[one.url]), "from another issuer"),
    "no iss": (lambda one: one.token(iss=None), "from another issuer"),
    "no sub": (lambda one: one.token(sub=None), "The token lacks sub."),
    "an empty sub": (lambda one: one.token(sub=""), "The token lacks sub."),
    "a number as sub": (lambda one: unchecked(one, sub=7), ORDER),
    "bound to a key": (lambda one: one.token(cnf={"jkt": "x"}), "The token is bound to a key"),
    "an ID token": (lambda one: one.token(header={"typ": "id+jwt"}), "has another type"),
    "crit that the library knows": (lambda one: signed(one, crit=["b64"], b64=True), "(crit)"),
    "b64": (lambda one: signed(one, b64=True), "(crit)"),
    "crit": (lambda one: one.token(header={"crit": ["x"], "x": 1}), "(crit)"),
}


@pytest.mark.parametrize("made", GOOD.values(), ids=GOOD)
async def test_valid_tokens_are_accepted_again_and_again(served: Served, issuer: Issuer, made: Made) -> None:
    token = made(issuer)
    for _ in range(2):
        done = await ask(served, call("door_who"), Authorization=f"bearer {token}")
        assert done.result["content"][0]["text"] == "ann ['other', 'work']"


@pytest.mark.parametrize(("made", "reason"), BAD.values(), ids=BAD)
@pytest.mark.requirement("AUTH-02", "AUTH-04", "AUTH-05")
async def test_invalid_tokens_are_refused(served: Served, issuer: Issuer, made: Made, reason: str) -> None:
    token = made(issuer)
    answer = await listed(served, token)
    challenge = answer.get("WWW-Authenticate") or ""
    assert answer.status == 401
    assert challenge.startswith('Bearer error="invalid_token", error_description="The ')
    assert reason in challenge
    assert challenge.endswith(CHALLENGE)
    secret = token.rpartition(".")[2]
    assert len(secret) < 10 or secret not in served.stderr + str(answer)


@pytest.mark.requirement("AUTH-02", "AUTH-06", "AUTH-07", "HTTP-04")
async def test_each_request_needs_a_token_in_its_header(served: Served, issuer: Issuer) -> None:
    session = Session(served)
    own = ("Authorization", f"Bearer {issuer.token()}")
    await session.open(**dict([own]))
    for method in ("POST", "GET", "DELETE"):
        for fields in ([], session.fields()):
            answer = await served.request(method, "/mcp", fields)
            assert (answer.status, answer.get("WWW-Authenticate")) == (401, f"Bearer {CHALLENGE}")
    assert (await session.post(message("ping"), own)).status == 200
    answer = await served.request("POST", f"/mcp?access_token={issuer.token()}")
    assert answer.status == 400
    assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')


# --- times, by a clock that stands

NOW, LEEWAY = 2_000_000_000, 60
INTROSPECTION = 'introspection = { client_id = "tools", client_secret = "s" }'


@pytest.fixture(scope="module")
def frozen_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("frozen")
    files = {"frozen_kit.py": Path(__file__).with_name("frozen_kit.py").read_text("utf-8")}
    make_distribution(site, "frozen-kit", "1", {"pegboard.toolkits": {"frozen": "frozen_kit:kit"}}, files)
    return site


@pytest.mark.parametrize("own", [False, True], ids=["of the plugin", "of the server"])
async def test_clocks_may_differ_by_the_leeway(frozen_site: Path, own: bool) -> None:
    edges = [("exp", -LEEWAY + 1, 200), ("exp", -LEEWAY, 401), ("exp", -LEEWAY - 1, 401)]
    edges += [(claim, LEEWAY + more, 401 if more > 0 else 200) for claim in ("nbf", "iat") for more in (-1, 0, 1)]
    if own:
        edges = [("exp", 1, 200), ("exp", 0, 401), ("nbf", 0, 200), ("nbf", 1, 401)]
    leeway = "\nleeway_seconds = 0" if own else ""
    async with Issuer() as signing, Issuer("/asked") as asked:
        second = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{signing.url}"{leeway}'
        server, settings = f"{INTROSPECTION}{leeway}\n{second}", f"leeway_seconds = {LEEWAY}"
        async with serve(frozen_site, asked, settings=settings, server=server, env={"FROZEN_NOW": str(NOW)}) as served:
            for claim, offset, status in edges:
                claims: dict[str, Any] = {"exp": NOW + 600, "iat": NOW, claim: NOW + offset}
                for token in (signing.token(**claims), asked.opaque(f"{claim}.{offset}", **claims)):
                    assert [(await listed(served, token)).status for _ in range(2)] == [status] * 2, (claim, offset)


# --- algorithms and keys


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_each_algorithm(site: Path, algorithm: str) -> None:
    key = RSA_KEY if algorithm[:2] in ("RS", "PS") else made_key(algorithm)
    async with Issuer() as issuer:
        issuer.keys = [public(key, "one", algorithm)]
        async with serve(site, issuer, server=f'algorithms = ["{algorithm}"]') as served:
            assert (await listed(served, issuer.token(key=key, algorithm=algorithm))).status == 200
            assert (await listed(served, issuer.token())).status == (200 if algorithm == "RS256" else 401)


@pytest.mark.parametrize(("listed_as", "of_key"), [("EdDSA", "Ed25519"), ("Ed25519", "EdDSA"), ("EdDSA", None)])
async def test_ed25519_has_two_names(site: Path, listed_as: str, of_key: str | None) -> None:
    """RFC 9864: tokens, keys and settings may use either name."""
    key = made_key("EdDSA")
    newer = jwt.PyJWT()
    newer._jws.register_algorithm("Ed25519", jwt.algorithms.OKPAlgorithm())
    async with Issuer() as issuer:
        issuer.keys = [public(key, "one", "EdDSA", alg=of_key), public(RSA_KEY, "rsa", "RS256", alg=None)]
        token = newer.encode(issuer.claims(), key, "Ed25519", {"kid": "one"})
        forged = newer.encode(issuer.claims(), made_key("EdDSA"), "Ed25519", {"kid": "one"})
        mixed = newer.encode(issuer.claims(), key, "Ed25519", {"kid": "rsa"})
        async with serve(site, issuer, server=f'algorithms = ["{listed_as}"]') as served:
            older = issuer.token(key=key, algorithm="EdDSA")
            statuses = [(await listed(served, one)).status for one in (token, older, forged, mixed)]
            assert statuses == [200, 200, 401, 401]
        async with serve(site, issuer, server='algorithms = ["RS256"]') as served:
            assert ALGORITHM in ((await listed(served, token)).get("WWW-Authenticate") or "")


@pytest.mark.filterwarnings("ignore:The RSA key is 1024")
async def test_weak_keys_and_keys_of_another_use_are_ignored(site: Path) -> None:
    short = rsa.generate_private_key(65537, 1024)
    async with Issuer() as issuer:
        issuer.keys = [
            public(OTHER_RSA_KEY, "hidden", "RS256", use="enc"),
            public(OTHER_RSA_KEY, "wraps", "RS256", key_ops=["wrapKey"]),
            public(short, "short", "RS256"),
            {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
            {"kty": "RSA", "kid": "broken", "n": "AQAB"},
            public(RSA_KEY, "one", "RS256"),
            "no key",  # type: ignore[list-item]  # on purpose
        ]
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 200
            for kid in ("hidden", "wraps", "short", "shared", "broken"):
                key = short if kid == "short" else OTHER_RSA_KEY
                assert (await listed(served, issuer.token(key=key, header={"kid": kid}))).status == 401


# --- callers


@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_subject_of_another_issuer_is_another_caller(site: Path, issuer: Issuer) -> None:
    async with Issuer("/tenant") as other:
        other.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
        async with serve(site, issuer, other) as served:
            session = Session(served)
            own = ("Authorization", f"Bearer {issuer.token()}")
            await session.open(**dict([own]))
            renewed = ("Authorization", f"Bearer {issuer.token(jti='2', exp=now() + 900, scope='other')}")
            for field in (own, renewed):
                assert (await session.post(call("door_plain"), field)).status == 200
            for token in (other.token(key=OTHER_RSA_KEY), issuer.token(sub="ben")):
                field = ("Authorization", f"Bearer {token}")
                assert (await session.post(message("ping"), field)).refused == (404, -32600)
                assert (await served.request("DELETE", "/mcp", [*session.fields(), field])).status == 404
            for forged in (issuer.token(iss=other.url), other.token(key=OTHER_RSA_KEY, iss=issuer.url)):
                assert (await listed(served, forged)).status == 401


async def test_tokens_of_the_worker_and_of_mcp_are_not_interchangeable(site: Path, issuer: Issuer) -> None:
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, issuer, env={"ARCADE_WORKER_SECRET": secret}) as served:
        for token, mcp, worker in ((create_token(secret, 60), 401, 200), (issuer.token(), 200, 401)):
            assert (await listed(served, token)).status == mcp
            bearer = [("Authorization", f"Bearer {token}")]
            assert (await served.request("GET", "/worker/tools", bearer)).status == worker


# --- metadata


@pytest.mark.requirement("AUTH-01")
async def test_the_metadata_is_public_at_both_paths(served: Served, issuer: Issuer) -> None:
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        for fields in ([], [("Authorization", "Bearer x")], [("Host", "127.0.0.1")]):
            assert (await served.request("GET", path, fields)).json == {
                "resource": RESOURCE,
                "authorization_servers": [issuer.url],
                "bearer_methods_supported": ["header"],
                "resource_name": "Wire tests",
                "scopes_supported": ["work", "other"],
            }


@pytest.mark.parametrize("host", ["tools.example.com:8443", "[2001:db8::1]:8443"])
async def test_the_host_of_the_resource_is_allowed(site: Path, host: str) -> None:
    name = host.removesuffix(":8443")
    async with Issuer() as issuer:
        own = f'[plugins.resource_server]\nresource = "https://{host}/mcp"\n'
        own += f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer.url}"\n'
        async with Served(site, http_config(more=own)) as served:
            token = issuer.token(aud=f"https://{host}/mcp")
            for one in (host, name, name.upper()):
                assert (await listed(served, token, Host=one)).status == 200
                assert (await listed(served, None, Host=one)).status == 401
            assert (await listed(served, token, Host=name, Origin=f"https://{name}")).status == 200
            for one in ("evil.example", f"sub.{name}", f"{name}.evil.example"):
                assert (await listed(served, token, Host=one)).status == 421
