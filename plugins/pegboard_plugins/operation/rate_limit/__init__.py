"""Rate limits for each caller and tool, and for completions: token buckets in bounded memory.

A refusal says when to try again. Processes that share state share their limits.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from hashlib import sha256
from math import ceil
from time import monotonic
from typing import Annotated, NamedTuple

from pydantic import Field

from pegboard import PluginConfig, RetryableToolError
from pegboard.plugin import Middleware, Plugin, PluginContext, ProtocolError, RecordStore, StoreName, hookimpl
from pegboard.types import Call, Inventory
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR

MAX_BUCKETS = 10_000
"""The number of buckets, one for each caller and tool."""
_MAX_EXAMINED_BUCKETS = 8
"""The number of oldest buckets that are examined to find a full one to drop."""
_DIGEST_BYTES = 16
_LOOPBACK = frozenset(("127.0.0.1", "::1"))


class ToolLimit(PluginConfig):
    """The rate limit of one tool."""

    calls_per_minute: float = Field(gt=0)
    burst: int = Field(1, ge=1)


class RateLimitConfig(PluginConfig):
    """`[plugins.rate_limit]`.

    Attributes:
        calls_per_minute: the average number of calls of one tool by one caller.
        burst: the number of these calls that may come at once; by default a tenth of `calls_per_minute`, at least 1.
        tools: other limits, by name or glob of tools on the wire, such as `"github_*" = { calls_per_minute = 60 }`. The
            first match counts. `burst` is 1 by default.
        completions_per_minute: the average number of completion requests of one caller.
        completion_burst: the number of these requests that may come at once; by default a tenth of
            `completions_per_minute`, at least 1.
        services: the limit for calls and completion requests of a service, such as the worker, that names no user; no
            limit by default. `burst` is 1 by default.
        local: limit the operator too, and callers without a token from loopback addresses, such as clients behind a
            proxy on this machine that hides their addresses.
        store: the plugin whose store holds limits that processes share; None for separate limits in each process. The
            default is `[host] state`.
    """

    calls_per_minute: float = Field(6000, gt=0)
    burst: int | None = Field(None, ge=1)
    tools: dict[str, ToolLimit] = Field({})
    completions_per_minute: float = Field(6000, gt=0)
    completion_burst: int | None = Field(None, ge=1)
    services: ToolLimit | None = None
    local: bool = False
    store: Annotated[str | None, StoreName(RecordStore)] = None


class Rate(NamedTuple):
    """A limit.

    Attributes:
        interval: the average seconds between two calls.
        burst: the number of calls that may come at once.
    """

    interval: float
    burst: int

    def latest(self, now: float) -> float:
        """Return the time at which an empty bucket is full. A later time is from a clock that was ahead."""
        return now + self.burst * self.interval


class RateLimitPlugin(Plugin):
    """The middleware of the limits."""

    Config = RateLimitConfig

    @hookimpl
    def register_middleware(self, context: PluginContext) -> Iterable[Middleware]:
        """Return middleware for tool calls and completions."""
        if self.config.store is None:
            return [RateLimit(self.config)]
        from pegboard_plugins.operation.rate_limit.shared_limits import SharedBuckets, SharedRateLimit

        buckets = SharedBuckets(partial(context.store, RecordStore, self.config.store))
        return [SharedRateLimit(self.config, buckets)]


class TooManyCallsError(RetryableToolError):
    """A caller called a tool too often."""

    default_status = 429


class CountingMiddleware(Middleware):
    """Middleware with a bucket for each caller and tool. Calls of tools that are not served share a bucket.

    Args:
        config: the limits.
    """

    def __init__(self, config: RateLimitConfig) -> None:
        self._tools: Container[str] = ()
        self._local = config.local
        self._limits = {pattern: _rate(limit.calls_per_minute, limit.burst) for pattern, limit in config.tools.items()}
        self._others = _rate(config.calls_per_minute, config.burst)
        self._completions = _rate(config.completions_per_minute, config.completion_burst)
        services = config.services
        self._services = None if services is None else _rate(services.calls_per_minute, services.burst)
        self._rate_of = lru_cache(1024)(self._find_rate)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Remember the tools that are served."""
        self._tools = inventory.tools.keys()
        return ()

    def bucket(self, call: Call) -> tuple[Hashable, Rate] | None:
        """Return the key and the limit of the bucket of a call; None for a call that is not counted."""
        if call.method == "tools/call":
            if not self._is_counted(call) or call.runs_task:  # a task was counted when it was created
                return None
            name = call.params.get("name")
            if not isinstance(name, str) or name not in self._tools:
                name = ""
            return self._of(call, name, self._rate_of(name))
        is_completion = call.method == "completion/complete" and self._is_counted(call)
        return self._of(call, None, self._completions) if is_completion else None

    def _is_counted(self, call: Call) -> bool:
        """Return True if calls of this caller are counted."""
        caller = call.caller
        if caller.service and self._services is None and _is_service(call):
            return False
        return self._local or not (caller.trusted or (call.peer in _LOOPBACK and not caller.is_known))

    def _of(self, call: Call, name: str | None, rate: Rate) -> tuple[Hashable, Rate]:
        services = self._services
        return _bucket_key(call, name), services if services and _is_service(call) else rate

    def _find_rate(self, name: str) -> Rate:
        return next((rate for pattern, rate in self._limits.items() if fnmatchcase(name, pattern)), self._others)


class RateLimit(CountingMiddleware):
    """Middleware that refuses calls beyond the limits of this process.

    Args:
        config: the limits.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, config: RateLimitConfig, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(config)
        self._buckets = Buckets(clock)

    def check(self, call: Call) -> None:
        """Count a tool call or a request for completion, or refuse it."""
        if (bucket := self.bucket(call)) is not None:
            refuse(call, self._buckets.take(*bucket))


def refuse(call: Call, wait: float) -> None:
    """Refuse a call that must wait.

    Args:
        call: the call.
        wait: the seconds until a token is available; 0 if it has one.

    Raises:
        TooManyCallsError, ProtocolError: it must wait.
    """
    if not wait:
        return
    if call.method != "tools/call":
        raise ProtocolError(INTERNAL_ERROR, "Too many requests for completion", {"retryAfterMs": ceil(wait * 1000)})
    seconds = ceil(wait)
    raise TooManyCallsError(
        f"Too many calls of this tool. Try again in {seconds} second{'s' if seconds > 1 else ''}.",
        retry_after_ms=ceil(wait * 1000),
    )


class Buckets:
    """Token buckets. Each is stored as the time at which it will be full. Full buckets need not be stored.

    Args:
        clock: a monotonic clock in seconds.
        most: the number of buckets. Beyond it a full bucket is dropped, or an old one if none of the oldest is full.
    """

    def __init__(self, clock: Callable[[], float], most: int = MAX_BUCKETS) -> None:
        self._clock = clock
        self._most = most
        self._full: dict[Hashable, float] = {}

    def __len__(self) -> int:
        return len(self._full)

    def take(self, key: Hashable, rate: Rate) -> float:
        """Take a token. Return 0, or the seconds until one is available."""
        now = self._clock()
        full = min(self._full.pop(key, now), rate.latest(now))
        if full < now:
            full = now
        wait = full - now - (rate.burst - 1) * rate.interval
        if wait > 1e-6:  # smaller values are rounding errors
            self._full[key] = full
            return wait
        self._full[key] = full + rate.interval
        if len(self._full) > self._most:
            self._drop_one(now)
        return 0.0

    def _drop_one(self, now: float) -> None:
        for _ in range(_MAX_EXAMINED_BUCKETS):
            key = next(iter(self._full))
            full = self._full.pop(key)
            if full <= now:
                return
            self._full[key] = full
        del self._full[next(iter(self._full))]


def _rate(per_minute: float, burst: int | None) -> Rate:
    return Rate(60 / per_minute, burst or max(1, int(per_minute / 10)))


def _is_service(call: Call) -> bool:
    """Return True if a service calls without naming a user."""
    return call.caller.service and (call.supplied is None or not call.supplied.user_id)


def _bucket_key(call: Call, name: str | None) -> Hashable:
    """Return the key of a bucket: a user or a program, the user it acts for, and the name of a tool."""
    caller, supplied = call.caller, call.supplied
    program = caller.client_id if caller.subject is None else None
    user = None if supplied is None else supplied.user_id
    # a digest, because names may be long and thousands are kept
    digest = user and sha256(user.encode("utf-8", "surrogatepass")).digest()[:_DIGEST_BYTES]
    return caller.issuer, caller.subject, program, digest, name
