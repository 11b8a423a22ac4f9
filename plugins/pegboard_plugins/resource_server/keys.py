"""The cached keys of one authorization server. Keys are fetched when needed, at most once per interval."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pegboard_plugins.resource_server.claims import CheckUnavailableError
from pegboard_plugins.resource_server.documents import FetchError

if TYPE_CHECKING:
    from jwt import PyJWK

    from pegboard_plugins.resource_server import ResourceServerConfig

logger = logging.getLogger("pegboard.plugins.resource_server")

MAX_KEYS = 100
"""The number of keys of a set that are used."""
MAX_CANDIDATES = 10
"""The number of keys that are tried for one token."""
MIN_RSA_BITS = 2048
"""The minimum size of an RSA key (RFC 7518, section 3.3)."""

_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "EdDSA": "Ed25519", "Ed25519": "Ed25519"}
_ED25519 = frozenset(("EdDSA", "Ed25519"))
"""Two names of one algorithm for keys of the curve Ed25519 (RFC 9864, section 2.2)."""


class KeySet:
    """The keys of one server.

    Args:
        issuer: the issuer, for the log.
        fetch: a function that fetches the members of the key set. It raises FetchError.
        config: the intervals and the maximum age.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        issuer: str,
        fetch: Callable[[], Awaitable[list[Any]]],
        config: ResourceServerConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._config = config
        self._clock = clock
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._key_objects: dict[tuple[int, str], PyJWK | None] = {}
        self._fetched_at: float | None = None
        self._attempted_at: float | None = None
        self._failing = False
        self._task: asyncio.Task[None] | None = None
        self.generation = 0
        """A number that changes with the keys."""

    def usable(self) -> bool:
        """Return True if the keys are young enough. Keys that are due for a refresh are fetched in the background."""
        age = self._age()
        if age is None or age > self._config.max_age_seconds:
            return False
        if age > self._config.refresh_seconds:
            self._begin()
        return True

    async def find(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        """Return the keys that may have signed a token: keys with the token's key id, then keys without a key id.

        Return all keys for the algorithm if the token has no key id. If there are none, fetch the keys, at most once
        per interval.

        Raises:
            CheckUnavailableError: the keys cannot be fetched.
        """
        if not self.usable():
            await self._refresh()
            if not self.usable():
                raise CheckUnavailableError(self._config.refresh_interval_seconds)
        return self._candidates(kid, algorithm) or await self._fetch_and_find(kid, algorithm)

    async def find_newer(self, kid: str | None, algorithm: str, generation: int) -> Sequence[PyJWK]:
        """Return the keys that may have signed a token, if they are newer than a generation of keys.

        Return no keys if a key has the token's key id. Otherwise the keys are fetched, at most once per interval.

        Raises:
            CheckUnavailableError: the keys cannot be fetched.
        """
        if kid is not None and any(key.get("kid") == kid for key in self._keys):
            return []
        found = await self._fetch_and_find(kid, algorithm)
        return found if self.generation != generation else []

    async def close(self) -> None:
        """Cancel fetching keys. The callers of `find` get a `CheckUnavailableError`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _fetch_and_find(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        generation = self.generation
        await self._refresh()
        if self._failing and self.generation == generation:
            raise CheckUnavailableError(self._config.refresh_interval_seconds)
        return self._candidates(kid, algorithm)

    def _age(self) -> float | None:
        return None if self._fetched_at is None else self._clock() - self._fetched_at

    async def _refresh(self) -> None:
        """Fetch the keys, at most once per interval. Concurrent callers wait for the same attempt."""
        if (task := self._begin()) is not None:
            await asyncio.shield(task)

    def _begin(self) -> asyncio.Task[None] | None:
        if self._task is None or self._task.done():
            now = self._clock()
            if self._attempted_at is not None and now - self._attempted_at < self._config.refresh_interval_seconds:
                return None
            self._attempted_at = now
            self._task = asyncio.get_running_loop().create_task(self._fetch_once())
        return self._task

    async def _fetch_once(self) -> None:
        try:
            keys = [key for key in (await self._fetch())[:MAX_KEYS] if _may_sign(key)]
            if not keys:
                raise FetchError("the key set has no signature key")
        except FetchError as error:
            self._failing = True
            logger.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
            return
        except asyncio.CancelledError:  # only `close` cancels this task
            self._failing = True
            return
        self._failing = False
        self._fetched_at = self._clock()
        if keys != self._keys:
            self._keys, self._key_objects = keys, {}
            self.generation += 1

    def _candidates(self, kid: str | None, algorithm: str) -> Sequence[PyJWK]:
        fitting = [(place, key.get("kid")) for place, key in enumerate(self._keys) if _fits_algorithm(key, algorithm)]
        if kid is not None:
            named = [one for one in fitting if one[1] == kid]
            fitting = named + [one for one in fitting if one[1] is None]
        made = [self._key_object(place, algorithm) for place, _ in fitting[:MAX_CANDIDATES]]
        return [key for key in made if key is not None]

    def _key_object(self, place: int, algorithm: str) -> PyJWK | None:
        if (place, algorithm) not in self._key_objects:
            self._key_objects[place, algorithm] = _make_key(self._keys[place], algorithm)
        return self._key_objects[place, algorithm]


def _may_sign(key: Any) -> bool:
    """Return True if a member of a key set is a public key for signatures (RFC 7517, section 4)."""
    if not isinstance(key, dict) or key.get("kty") not in ("RSA", "EC", "OKP"):
        return False
    operations = key.get("key_ops")
    return key.get("use") in (None, "sig") and (operations is None or "verify" in operations)


def _fits_algorithm(key: Mapping[str, Any], algorithm: str) -> bool:
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
