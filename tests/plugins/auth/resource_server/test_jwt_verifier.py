"""JWT access tokens: attacks, clocks, algorithms and keys."""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable
from time import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pegboard.plugin import encode
from pegboard_client import SignatureKeys
from pegboard_plugins.auth.resource_server import introspection, jwt_verifier, token_authenticator
from tests.plugins.auth.resource_server.conftest import METADATA, Door, listed
from tests.support.http import Served
from tests.support.http_mcp import ask, call, message, opened
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
    raw = jwt.encode(issuer.claims(), "x" * 32, algorithm="HS256", headers={"kid": "one"}).rpartition(".")[0]
    return f"{raw}.{encoded(jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(raw.encode(), pem))}"


def tampered(issuer: Issuer, claims: Any) -> str:
    head, _, signature = issuer.token().split(".")
    return f"{head}.{encoded(claims)}.{signature}"


def now() -> int:
    return int(time())


Made = Callable[[Issuer], str]
GOOD: dict[str, Made] = {
    "default": lambda issuer: issuer.token(),
    "one of several audiences": lambda issuer: issuer.token(aud=["https://other.example", RESOURCE]),
    "an audience in capitals": lambda issuer: issuer.token(aud="HTTPS://Tools.Example.COM/mcp"),
    "typ in full": lambda issuer: issuer.token(header={"typ": "application/at+JWT"}),
    "no typ": lambda issuer: issuer.token(header={"typ": None}),
    "no kid": lambda issuer: issuer.token(header={"kid": None}),
}
ALGORITHM, ORDER, AUDIENCE = "an algorithm that is not allowed", "The token is invalid.", "for another audience"
BAD: dict[str, tuple[Made, str]] = {
    "no JWT": (lambda issuer: "x", "The token is not a JWT."),
    "too deep": (lambda issuer: tampered(issuer, b"[" * 4000), "The token is not a JWT."),
    "no signature": (lambda issuer: unsigned(issuer, "none"), ALGORITHM),
    "no signature, capitals": (lambda issuer: unsigned(issuer, "nOnE"), ALGORITHM),
    "the public key as secret": (confused, ALGORITHM),
    "another algorithm": (lambda issuer: issuer.token(algorithm="RS512"), ALGORITHM),
    "another algorithm of the key": (lambda issuer: issuer.token(algorithm="PS256"), "does not have the key"),
    "another key": (lambda issuer: issuer.token(key=OTHER_RSA_KEY), "The signature of the token is wrong."),
    "changed claims": (
        lambda issuer: tampered(issuer, issuer.claims(sub="root")),
        "The signature of the token is wrong.",
    ),
    "a number as kid": (lambda issuer: signed(issuer, kid=1), ORDER),
    "an unknown kid": (lambda issuer: issuer.token(header={"kid": "two"}), "does not have the key"),
    "no exp": (lambda issuer: issuer.token(exp=None), "The token lacks exp."),
    "a string as exp": (lambda issuer: issuer.token(exp="soon"), ORDER),
    "a huge exp": (lambda issuer: issuer.token(exp=10**400), ORDER),
    "another audience": (lambda issuer: issuer.token(aud="https://tools.example.com/"), AUDIENCE),
    "an object as aud": (lambda issuer: issuer.token(aud={RESOURCE: 1}), AUDIENCE),
    "no aud": (lambda issuer: issuer.token(aud=None), "The token lacks aud."),
    "another issuer": (lambda issuer: issuer.token(iss="https://evil.example"), "from another issuer"),
    "the issuer with a slash": (lambda issuer: issuer.token(iss=issuer.url + "/"), "from another issuer"),
    "the issuer without its end": (lambda issuer: issuer.token(iss=issuer.url[:-1]), "from another issuer"),
    "no iss": (lambda issuer: issuer.token(iss=None), "from another issuer"),
    "no sub": (lambda issuer: issuer.token(sub=None), "The token lacks sub."),
    "a number as sub": (lambda issuer: unchecked(issuer, sub=7), ORDER),
    "bound to a key": (lambda issuer: issuer.token(cnf={"jkt": "x"}), "The token is bound to a key"),
    "an ID token": (lambda issuer: issuer.token(header={"typ": "id+jwt"}), "is not of an accepted type"),
    "b64": (lambda issuer: signed(issuer, b64=True), "(crit)"),
    "crit": (lambda issuer: issuer.token(header={"crit": ["x"], "x": 1}), "(crit)"),
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
    own = ("Authorization", f"Bearer {issuer.token()}")
    session = await opened(served, Authorization=own[1])
    for method in ("POST", "GET", "DELETE"):
        for fields in ([], session.fields()):
            answer = await served.request(method, "/mcp", fields)
            assert (answer.status, answer.get("WWW-Authenticate")) == (401, f"Bearer {CHALLENGE}")
    assert (await session.post(message("ping"), own)).status == 200
    answer = await served.request("POST", f"/mcp?access_token={issuer.token()}")
    assert answer.status == 400
    assert (answer.get("WWW-Authenticate") or "").startswith('Bearer error="invalid_request", ')


NOW, LEEWAY = 2_000_000_000, 60


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock for tokens at NOW."""

    class Frozen(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Frozen:
            return cls.fromtimestamp(NOW, tz)

    monkeypatch.setattr("jwt.api_jwt.datetime", Frozen)
    for module in (introspection, jwt_verifier, token_authenticator):
        monkeypatch.setattr(module, "time", lambda: NOW)


@pytest.mark.parametrize("own", [{}, {"leeway_seconds": 0}], ids=["of the plugin", "of the server"])
async def test_clocks_may_differ_by_the_leeway(issuer: Issuer, frozen: None, own: dict[str, Any]) -> None:
    leeway = 0 if own else LEEWAY
    edges = [("exp", -leeway + 1, 200), ("exp", -leeway, 401), ("exp", -leeway - 1, 401)]
    edges += [(claim, leeway + more, 401 if more > 0 else 200) for claim in ("nbf", "iat") for more in (-1, 0, 1)]
    login = {"client_id": "tools", "client_secret": "s"}
    async with Issuer("/asked") as introspected:
        servers = [{"issuer": issuer.url, **own}, {"issuer": introspected.url, "introspection": login, **own}]
        async with Door(authorization_servers=servers, leeway_seconds=LEEWAY) as door:
            for claim, offset, status in edges:
                claims: dict[str, Any] = {"exp": NOW + 600, "iat": NOW, claim: NOW + offset}
                for token in (issuer.token(**claims), introspected.opaque(f"{claim}.{offset}", **claims)):
                    assert [await door.status(token) for _ in range(2)] == [status] * 2, (claim, offset)


# --- algorithms, keys and issuers


@pytest.mark.parametrize("algorithm", SignatureKeys.ALGORITHMS)
async def test_only_listed_algorithms_are_accepted(algorithm: str) -> None:
    key = RSA_KEY if algorithm[:2] in ("RS", "PS") else made_key(algorithm)
    async with Issuer() as issuer, Door(issuer, server={"algorithms": [algorithm]}) as door:
        issuer.keys = [public(key, "one", algorithm)]
        assert await door.status(issuer.token(key=key, algorithm=algorithm)) == 200
        assert await door.status(issuer.token()) == (200 if algorithm == "RS256" else 401)


@pytest.mark.parametrize(("listed_as", "of_key"), [("EdDSA", "Ed25519"), ("Ed25519", "EdDSA"), ("EdDSA", None)])
async def test_ed25519_has_two_names(listed_as: str, of_key: str | None) -> None:
    """RFC 9864: tokens, keys and settings may use either name."""
    key = made_key("EdDSA")
    newer = jwt.PyJWS()
    newer.register_algorithm("Ed25519", jwt.algorithms.OKPAlgorithm())
    async with Issuer() as issuer:
        issuer.keys = [public(key, "one", "EdDSA", alg=of_key), public(RSA_KEY, "rsa", "RS256", alg=None)]
        claims = encode(issuer.claims())
        token = newer.encode(claims, key, "Ed25519", {"kid": "one"})
        forged = newer.encode(claims, made_key("EdDSA"), "Ed25519", {"kid": "one"})
        mixed = newer.encode(claims, key, "Ed25519", {"kid": "rsa"})
        older = issuer.token(key=key, algorithm="EdDSA")
        async with Door(issuer, server={"algorithms": [listed_as]}) as door:
            statuses = [await door.status(credential) for credential in (token, older, forged, mixed)]
            assert statuses == [200, 200, 401, 401]
        async with Door(issuer, server={"algorithms": ["RS256"]}) as door:
            assert ALGORITHM in str(await door.refusal(token))


@pytest.mark.filterwarnings("ignore:The RSA key is 1024")
async def test_weak_keys_and_keys_of_another_use_are_ignored() -> None:
    short = rsa.generate_private_key(65537, 1024)
    async with Issuer() as issuer, Door(issuer) as door:
        issuer.keys = [
            public(OTHER_RSA_KEY, "hidden", "RS256", use="enc"),
            public(OTHER_RSA_KEY, "wraps", "RS256", key_ops=["wrapKey"]),
            public(short, "short", "RS256"),
            {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
            {"kty": "RSA", "kid": "broken", "n": "AQAB"},
            public(RSA_KEY, "one", "RS256"),
            "no key",  # type: ignore[list-item]  # on purpose
        ]
        assert await door.status(issuer.token()) == 200
        for kid in ("hidden", "wraps", "short", "shared", "broken"):
            key = short if kid == "short" else OTHER_RSA_KEY
            assert await door.status(issuer.token(key=key, header={"kid": kid})) == 401


async def test_the_key_of_one_issuer_signs_no_token_of_another(issuer: Issuer) -> None:
    async with Issuer("/tenant") as other, Door(issuer, other) as door:
        other.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
        for token, of in ((issuer.token(), issuer), (other.token(key=OTHER_RSA_KEY), other)):
            assert (await door.caller(token)).issuer == of.url
        for forged in (issuer.token(iss=other.url), other.token(key=OTHER_RSA_KEY, iss=issuer.url)):
            assert (await door.refusal(forged)).status == 401


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
