"""Whose tokens open the MCP endpoint, and whose do not (rows C-1 to C-7, C-14 to C-16), over sockets."""

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
from tests.support.http import Served
from tests.support.http_mcp import Session, ask, call, message
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, RSA_KEY, Issuer, made_key, public

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKED = f'resource_metadata="{METADATA}", scope="work"'


def unsigned(issuer: Issuer, algorithm: str, **header: Any) -> str:
    parts: list[Any] = [{"alg": algorithm, "typ": "JWT", "kid": "one", **header}, issuer.claims()]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


def signed(issuer: Issuer, **header: Any) -> str:
    """A token with members of the header that the library would not write."""
    token = unsigned(issuer, "RS256", **header)
    algorithm = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256)
    signature = algorithm.sign(token.removesuffix(".").encode(), RSA_KEY)
    return token + base64.urlsafe_b64encode(signature).rstrip(b"=").decode()


def confused(issuer: Issuer) -> str:
    """Signed with the public key as if it were a shared secret."""
    pem = RSA_KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    one = jwt.encode(issuer.claims(), "x" * 32, algorithm="HS256", headers={"kid": "one"}).rpartition(".")[0]
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(one.encode(), pem)
    return f"{one}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def tampered(issuer: Issuer) -> str:
    head, _, signature = issuer.token().split(".")
    claims = base64.urlsafe_b64encode(json.dumps(issuer.claims(sub="root")).encode()).rstrip(b"=").decode()
    return f"{head}.{claims}.{signature}"


def deep(issuer: Issuer) -> str:
    claims = base64.urlsafe_b64encode(b"[" * 4000).rstrip(b"=").decode()
    return f"{issuer.token().partition('.')[0]}.{claims}.AAAA"


def now() -> int:
    return int(time())


Made = Callable[[Issuer], str]
GOOD: dict[str, Made] = {
    "as it should be": lambda one: one.token(),
    "an audience among several": lambda one: one.token(aud=["https://other.example", RESOURCE]),
    "an audience in capitals": lambda one: one.token(aud="HTTPS://Tools.Example.COM/mcp"),
    "a plain JWT": lambda one: one.token(header={"typ": "JWT"}),
    "a type in full": lambda one: one.token(header={"typ": "application/at+JWT"}),
    "signed by hand": signed,
    "of no type": lambda one: one.token(header={"typ": None}),
    "without the name of its key": lambda one: one.token(header={"kid": None}),
    "ended less than the leeway ago": lambda one: one.token(exp=now() - 55),
    "begins sooner than the leeway": lambda one: one.token(nbf=now() + 58),
    "made sooner than the leeway": lambda one: one.token(iat=now() + 58),
}
BAD: dict[str, tuple[Made, str]] = {
    "no JWT": (lambda one: "x", "The token is no JWT."),
    "nonsense": (lambda one: "a.b.c", "The token is no JWT."),
    "no text": (lambda one: "\x80\xff.\xe9.x", "The token is no JWT."),
    "too deep": (deep, "The token is no JWT."),
    "no signature": (lambda one: unsigned(one, "none"), "an algorithm that is not allowed"),
    "no signature, capital": (lambda one: unsigned(one, "None"), "an algorithm that is not allowed"),
    "no signature, capitals": (lambda one: unsigned(one, "nOnE"), "an algorithm that is not allowed"),
    "a public key as secret": (confused, "an algorithm that is not allowed"),
    "an algorithm not listed": (lambda one: one.token(algorithm="RS512"), "an algorithm that is not allowed"),
    "another algorithm than its key's": (lambda one: one.token(algorithm="PS256"), "that its issuer does not have"),
    "another's signature": (lambda one: one.token(key=OTHER_RSA_KEY), "The signature of the token is wrong."),
    "changed": (tampered, "The signature of the token is wrong."),
    "a number as a key's name": (lambda one: signed(one, kid=1), "The token is not in order."),
    "another key's name": (lambda one: one.token(header={"kid": "two"}), "that its issuer does not have"),
    "ended": (lambda one: one.token(exp=now() - 61), "The token has expired."),
    "without an end": (lambda one: one.token(exp=None), "The token lacks exp."),
    "an end that is no time": (lambda one: one.token(exp="soon"), "The token is not in order."),
    "an end beyond all times": (lambda one: one.token(exp=10**400), "The token is not in order."),
    "an end that is true": (lambda one: one.token(exp=True), "The token has expired."),
    "not begun": (lambda one: one.token(nbf=now() + 63), "The token is not valid yet."),
    "of the future": (lambda one: one.token(iat=now() + 63), "The token is not valid yet."),
    "another audience": (lambda one: one.token(aud="https://tools.example.com/"), "for another audience"),
    "a longer audience": (lambda one: one.token(aud=RESOURCE + "/"), "for another audience"),
    "other audiences": (lambda one: one.token(aud=["a", "b"]), "for another audience"),
    "a number as audience": (lambda one: one.token(aud=[RESOURCE, 5]), "for another audience"),
    "an object as audience": (lambda one: one.token(aud={RESOURCE: 1}), "for another audience"),
    "no audience": (lambda one: one.token(aud=None), "The token lacks aud."),
    "another issuer": (lambda one: one.token(iss="https://evil.example"), "of another issuer"),
    "an issuer with a slash": (lambda one: one.token(iss=one.url + "/"), "of another issuer"),
    "a list of issuers": (lambda one: unchecked(one, iss=[one.url]), "of another issuer"),
    "no issuer": (lambda one: one.token(iss=None), "of another issuer"),
    "nobody's": (lambda one: one.token(sub=None), "The token lacks sub."),
    "bound to a key": (lambda one: one.token(cnf={"jkt": "x"}), "The token is bound to a key"),
    "an empty subject": (lambda one: one.token(sub=""), "The token lacks sub."),
    "a number as subject": (lambda one: unchecked(one, sub=7), "The token is not in order."),
    "an identity token's type": (lambda one: one.token(header={"typ": "id+jwt"}), "of another type"),
    "an end in text": (lambda one: unchecked(one, exp=str(now() + 600)), "The token is not in order."),
    "what the library understands": (lambda one: signed(one, crit=["b64"], b64=True), "(crit)"),
    "another form of claims": (lambda one: signed(one, b64=True), "(crit)"),
    "what must be understood": (lambda one: one.token(header={"crit": ["x"], "x": 1}), "(crit)"),
}


def unchecked(issuer: Issuer, **changes: Any) -> str:
    """A token with claims that the library would not sign."""
    claims = json.dumps(issuer.claims(**changes)).encode()
    return jwt.PyJWS().encode(claims, RSA_KEY, algorithm="RS256", headers={"kid": "one"})


async def test_a_long_token_opens(served: Served, issuer: Issuer) -> None:
    """Some issuers write every group of a person into their tokens."""
    token = issuer.token(groups=["x" * 100] * 200)
    assert 25_000 < len(token) < 32_000
    for _ in range(2):
        assert (await listed(served, token)).status == 200


@pytest.mark.parametrize("made", GOOD.values(), ids=GOOD)
async def test_tokens_that_open(served: Served, issuer: Issuer, made: Made) -> None:
    token = made(issuer)
    for _ in range(2):  # the second time it is known already
        done = await ask(served, call("door_who"), Authorization=f"bearer {token}")
        assert done.result["content"][0]["text"] == "ann ['other', 'work']"


@pytest.mark.parametrize(("made", "reason"), BAD.values(), ids=BAD)
@pytest.mark.requirement("AUTH-02", "AUTH-04", "AUTH-05")
async def test_tokens_that_do_not(served: Served, issuer: Issuer, made: Made, reason: str) -> None:
    answer = await listed(served, made(issuer))
    assert answer.status == 401
    told = answer.get("WWW-Authenticate") or ""
    assert told.startswith('Bearer error="invalid_token", error_description="The ')
    assert reason in told
    assert told.endswith(ASKED)


@pytest.mark.requirement("AUTH-02", "HTTP-04")
async def test_who_brings_none_is_told_where_to_get_one(served: Served) -> None:
    """Row C-1, and C-14: not in the URL."""
    for method in ("POST", "GET", "DELETE"):
        answer = await served.request(method, "/mcp")
        assert (answer.status, answer.get("WWW-Authenticate")) == (401, f"Bearer {ASKED}")


@pytest.mark.requirement("AUTH-07")
async def test_a_token_in_the_url_opens_nothing(served: Served, issuer: Issuer) -> None:
    answer = await served.request("POST", f"/mcp?access_token={issuer.token()}")
    assert answer.status == 400
    assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_every_algorithm_that_is_listed(site: Path, algorithm: str) -> None:
    key = RSA_KEY if algorithm[:2] in ("RS", "PS") else made_key(algorithm)
    async with Issuer() as issuer:
        issuer.keys = [public(key, "one", algorithm)]
        async with serve(site, issuer, server=f'algorithms = ["{algorithm}"]') as served:
            assert (await listed(served, issuer.token(key=key, algorithm=algorithm))).status == 200
            assert (await listed(served, issuer.token())).status == (200 if algorithm == "RS256" else 401)


@pytest.mark.parametrize("listed_as", ["EdDSA", "Ed25519"])
@pytest.mark.parametrize("of_key", ["EdDSA", "Ed25519", None])
async def test_ed25519_has_two_names(site: Path, listed_as: str, of_key: str | None) -> None:
    """RFC 9864: a token may say the newer one where either is listed, and whichever its key has."""
    key = made_key("EdDSA")
    newer = jwt.PyJWT()
    newer._jws.register_algorithm("Ed25519", jwt.algorithms.OKPAlgorithm())
    async with Issuer() as issuer:
        issuer.keys = [public(key, "one", "EdDSA", alg=of_key), public(RSA_KEY, "rsa", "RS256", alg=None)]
        token = newer.encode(issuer.claims(), key, "Ed25519", {"kid": "one"})
        forged = newer.encode(issuer.claims(), made_key("EdDSA"), "Ed25519", {"kid": "one"})
        mixed = newer.encode(issuer.claims(), key, "Ed25519", {"kid": "rsa"})
        async with serve(site, issuer, server=f'algorithms = ["{listed_as}"]') as served:
            assert (await listed(served, token)).status == 200
            assert (await listed(served, issuer.token(key=key, algorithm="EdDSA"))).status == 200
            assert [(await listed(served, one)).status for one in (forged, mixed)] == [401, 401]
        async with serve(site, issuer, server='algorithms = ["RS256"]') as served:
            assert "an algorithm that is not allowed" in ((await listed(served, token)).get("WWW-Authenticate") or "")


@pytest.mark.filterwarnings("ignore:The RSA key is 1024")
async def test_keys_that_are_not_for_signing_or_too_weak(site: Path) -> None:
    short = rsa.generate_private_key(65537, 1024)
    async with Issuer() as issuer:
        issuer.keys = [
            public(OTHER_RSA_KEY, "hidden", "RS256", use="enc"),
            public(OTHER_RSA_KEY, "wraps", "RS256", key_ops=["wrapKey"]),
            public(short, "short", "RS256"),
            {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
            {"kty": "RSA", "kid": "broken", "n": "AQAB"},
            public(RSA_KEY, "one", "RS256"),
            "no key",  # type: ignore[list-item]  # that is the point
        ]
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 200
            for kid in ("hidden", "wraps", "short", "shared", "broken"):
                key = short if kid == "short" else OTHER_RSA_KEY
                assert (await listed(served, issuer.token(key=key, header={"kid": kid}))).status == 401


# --- who it is, and what is theirs


@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_two_issuers_may_mean_two_people_by_one_name(site: Path, issuer: Issuer) -> None:
    """Row C-16, and tokens of one are not the other's."""
    async with Issuer("/tenant") as other:
        other.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
        async with serve(site, issuer, other) as served:
            mine = ("Authorization", f"Bearer {issuer.token()}")
            session = Session(served)
            await session.open(**dict([mine]))
            renewed = ("Authorization", f"Bearer {issuer.token(jti='2', exp=now() + 900, scope='other')}")
            for field in (mine, renewed):
                assert (await session.post(call("door_plain"), field)).status == 200
            theirs = ("Authorization", f"Bearer {other.token(key=OTHER_RSA_KEY)}")
            strangers = ("Authorization", f"Bearer {issuer.token(sub='ben')}")
            for field in (theirs, strangers):
                assert (await session.post(message("ping"), field)).refused == (404, -32600)
                assert (await served.request("DELETE", "/mcp", [*session.fields(), field])).status == 404
            assert (await listed(served, issuer.token(iss=other.url))).status == 401
            assert (await listed(served, other.token(key=OTHER_RSA_KEY, iss=issuer.url))).status == 401


@pytest.mark.requirement("AUTH-06")
async def test_a_session_opens_nothing_without_a_token(served: Served, issuer: Issuer) -> None:
    session = Session(served)
    mine = ("Authorization", f"Bearer {issuer.token()}")
    await session.open(**dict([mine]))
    for method in ("POST", "GET", "DELETE"):
        assert (await served.request(method, "/mcp", session.fields(), b"{}")).status == 401
    assert (await session.post(message("ping"), mine)).status == 200


async def test_the_worker_has_a_door_of_its_own(site: Path, issuer: Issuer) -> None:
    """Neither's tokens open the other's."""
    secret = "0123456789abcdef-a-secret-that-is-long-enough"
    async with serve(site, issuer, env={"ARCADE_WORKER_SECRET": secret}) as served:
        workers, mine = create_token(secret, 60), issuer.token()
        for token, mcp, worker in ((workers, 401, 200), (mine, 200, 401)):
            assert (await listed(served, token)).status == mcp
            bearer = ("Authorization", f"Bearer {token}")
            assert (await served.request("GET", "/worker/tools", [bearer])).status == worker


SCOPES: list[tuple[dict[str, Any], str]] = [
    ({"scope": "a  b"}, "['a', 'b']"),
    ({"scope": None, "scp": ["a", 5, "b"]}, "['a', 'b']"),
    ({"scope": None, "scp": "a b"}, "['a', 'b']"),
    ({"scope": None}, "[]"),
    ({"scope": 5}, "[]"),
]


@pytest.mark.parametrize(("claims", "told"), SCOPES)
async def test_scopes_are_read_as_servers_write_them(
    served: Served, issuer: Issuer, claims: dict[str, Any], told: str
) -> None:
    done = await ask(served, call("door_who"), Authorization=f"Bearer {issuer.token(**claims)}")
    assert done.result["content"][0]["text"] == f"ann {told}"


async def test_scopes_that_hold_others(site: Path, issuer: Issuer) -> None:
    """Row C-15, hierarchies: of as many steps as are written, with circles in them, for what every token needs too."""
    implied = 'implied_scopes = { "files:admin" = ["write"], write = ["read", "work"], read = ["write"] }'
    told = {
        "files:admin": "['files:admin', 'read', 'work', 'write']",
        "write": "['read', 'work', 'write']",
        "work": None,
        "files": None,
    }
    async with serve(site, issuer, settings=f'required_scopes = ["read"]\n{implied}') as served:
        for scope, scopes in told.items():
            done = await ask(served, call("door_who"), Authorization=f"Bearer {issuer.token(scope=scope)}")
            assert done.status == (403 if scopes is None else 200)
            if scopes is not None:
                assert done.result["content"][0]["text"] == f"ann {scopes}"
        done = await ask(served, call("door_guarded"), Authorization=f"Bearer {issuer.token(scope='files:admin')}")
        assert done.result["content"][0]["text"] == "done"


async def test_what_every_token_must_allow(site: Path, issuer: Issuer) -> None:
    async with serve(site, issuer, settings='required_scopes = ["mcp", "work"]') as served:
        answer = await listed(served, issuer.token())
        assert answer.status == 403
        told = answer.get("WWW-Authenticate") or ""
        assert told.startswith('Bearer error="insufficient_scope"')
        assert 'scope="mcp work"' in told
        assert (await listed(served, issuer.token(scope="work mcp other"))).status == 200


async def test_tokens_are_shown_nowhere(served: Served, issuer: Issuer) -> None:
    for token in (issuer.token(), issuer.token(exp=now() - 90), issuer.token(key=OTHER_RSA_KEY)):
        answer = await listed(served, token)
        signature = token.rpartition(".")[2]
        assert signature not in served.stderr
        assert signature not in str(answer)


# --- metadata


@pytest.mark.requirement("AUTH-01")
async def test_the_metadata_is_at_both_places(served: Served, issuer: Issuer) -> None:
    """RFC 9728: open to everybody, and what the operator configured, whatever the Host is."""
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        for fields in ([], [("Authorization", "Bearer x")], [("Host", "127.0.0.1")]):
            assert (await served.request("GET", path, fields)).json == {
                "resource": RESOURCE,
                "authorization_servers": [issuer.url],
                "bearer_methods_supported": ["header"],
                "resource_name": "Wire tests",
                "scopes_supported": ["work", "other"],
            }
