"""The public keys with which an issuer signs (RFC 7517)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from jwt import PyJWK

MAX_KEYS = 100
"""The number of keys of a set that are used."""
MAX_CANDIDATES = 10
"""The number of keys that are tried for one token."""
MIN_RSA_BITS = 2048
"""The minimum size of an RSA key (RFC 7518, section 3.3)."""

_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "EdDSA": "Ed25519", "Ed25519": "Ed25519"}
_ED25519 = ("EdDSA", "Ed25519")
"""Two names of one algorithm for keys of the curve Ed25519 (RFC 9864, section 2.2)."""


class SignatureKeys:
    """The keys of one key set that are for signatures. Other members are ignored.

    Args:
        members: the members of the key set, unchecked.

    Attributes:
        ALGORITHMS: the supported signature algorithms. All are asymmetric.
        members: the keys.
    """

    ALGORITHMS: ClassVar[tuple[str, ...]] = (
        "RS256",
        "RS384",
        "RS512",
        "ES256",
        "ES384",
        "ES512",
        "PS256",
        "PS384",
        "PS512",
        "EdDSA",
    )

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self.members: Sequence[Mapping[str, Any]] = [key for key in islice(members, MAX_KEYS) if _may_sign(key)]
        self._made: dict[tuple[int, str], PyJWK | None] = {}

    def has(self, kid: str) -> bool:
        """Return True if a key has this key id."""
        return any(key.get("kid") == kid for key in self.members)

    def find(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        """Return the keys that may have signed a token: keys with the token's key id, then keys without a key id.

        Return all keys for the algorithm if the token has no key id.
        """
        fitting = [(place, key.get("kid")) for place, key in enumerate(self.members) if _fits(key, algorithm)]
        if kid is not None:
            named = [key for key in fitting if key[1] == kid]
            fitting = named + [key for key in fitting if key[1] is None]
        made = [self._key_object(place, algorithm) for place, _ in fitting[:MAX_CANDIDATES]]
        return [key for key in made if key is not None]

    def _key_object(self, place: int, algorithm: str) -> PyJWK | None:
        if (place, algorithm) not in self._made:
            self._made[place, algorithm] = _make_key(self.members[place], algorithm)
        return self._made[place, algorithm]


def _may_sign(key: Any) -> bool:
    """Return True if a member of a key set is a public key for signatures (RFC 7517, section 4)."""
    if not isinstance(key, dict) or key.get("kty") not in ("RSA", "EC", "OKP"):
        return False
    operations = key.get("key_ops")
    return key.get("use") in (None, "sig") and (
        operations is None or (isinstance(operations, list) and "verify" in operations)
    )


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    if key.get("alg") not in (_ED25519 if algorithm in _ED25519 else (algorithm,)) and key.get("alg") is not None:
        return False
    curve = _CURVES.get(algorithm)
    return key["kty"] == "RSA" if curve is None else key["kty"] != "RSA" and key.get("crv") == curve


def _make_key(key: Mapping[str, Any], algorithm: str) -> PyJWK | None:
    """Return a key object of the library, or None if the key is invalid or weak."""
    import jwt

    public = {name: value for name, value in key.items() if name not in ("d", "p", "q", "dp", "dq", "qi", "oth")}
    try:
        made = jwt.PyJWK(public, "EdDSA" if algorithm in _ED25519 else algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    made.algorithm_name = algorithm  # the name in the token's header; the library knows only the older name
    return None if key["kty"] == "RSA" and made.key.key_size < MIN_RSA_BITS else made
