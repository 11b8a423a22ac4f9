"""What error adapters share: typed errors out of what a service's client met. It knows no service and no client.

The words are our own: nothing of a URL's query, of a header or of a body is in them, but for a service's error codes.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pegboard.adapters.retry_after import asks_to_wait, is_used_up, lower, retry_after_ms
from pegboard.errors import ErrorKind, FatalToolError, NetworkTransportError, UpstreamError, UpstreamRateLimitError

DEFAULT_WAIT_MS = 1000
"""How long to wait when a service limits its callers and does not say for how long."""

_CODE = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*")
_MAX_CODE_CHARACTERS = 64
_BROKEN_OFF = ("SSLEOFError", "SSLZeroReturnError", "SSLSyscallError")
_LINKS = 16
_NOTHING: Mapping[str, Any] = {}


class Upstream(NamedTuple):
    """A service, or all that one library talks to, as an adapter speaks of it.

    Attributes:
        slug: the adapter's; it stands in the `extra` of every error, as `service`.
        name: what messages call it.
    """

    slug: str
    name: str = "The service"

    def answered(
        self,
        error: BaseException,
        status: int,
        headers: Mapping[str, str] = _NOTHING,
        *,
        message: str | None = None,
        code: object = None,
        method: str | None = None,
        url: str | None = None,
        limited: bool = False,
        wait_ms: int | None = None,
        extra: Mapping[str, Any] = _NOTHING,
    ) -> UpstreamError:
        """The error for an answer that says that something went wrong.

        Args:
            error: what the client raised; of it only the name of its class is used.
            status: the HTTP status, or the one that describes best what the service says.
            headers: of the answer; names in any case.
            message: what the caller is told, in your own words; one is made when None.
            code: the service's own word for what went wrong, used where it looks like one (`error_code`).
            method: of the request.
            url: of the request; only its host and path are used.
            limited: the service limits its callers, though its status does not say so.
            wait_ms: for how long it asks to wait, where that is not in the headers.
            extra: more JSON-ready values for programs.

        Returns:
            An `UpstreamRateLimitError` where the service limits how often it may be asked.
        """
        headers, word = lower(headers), error_code(code)
        wait = retry_after_ms(headers) if wait_ms is None else wait_ms
        known = self._extra(method=method, url=url, error_code=word, **extra)
        detail = self._detail(error, method, url, str(status), word)
        shown = _status(status) if word is None else f"{_status(status)}, {word}"
        if limited or status == 429 or (status == 403 and (is_used_up(headers) or asks_to_wait(headers))):
            wait = wait or DEFAULT_WAIT_MS
            text = message or f"{self.name} limits how often it may be asked ({shown})."
            return UpstreamRateLimitError(f"{text} {_later(wait)}", wait, detail, extra=known)
        text = message or f"{self.name} answered with an error: {shown}."
        if status < 500 or wait is None or not (wait_ms is not None or asks_to_wait(headers)):
            return UpstreamError(text, detail, status_code=status, extra=known)
        answer = UpstreamError(f"{text} {_later(wait)}", detail, status_code=status, extra=known)
        answer.retry_after_ms = wait
        return answer

    def unanswered(
        self,
        error: BaseException,
        message: str | None = None,
        *,
        kind: ErrorKind | None = None,
        can_retry: bool = True,
        method: str | None = None,
        url: str | None = None,
    ) -> NetworkTransportError:
        """The error for no answer, or none that can be read.

        Args:
            error: what the client raised.
            message: what the caller is told.
            kind: one of the NETWORK_TRANSPORT kinds. When None, kind, message and whether it can be tried again follow
                from the exceptions of Python itself that `error` was made of.
            can_retry: whether the same call may succeed later.
            method: of the request.
            url: of the request; only its host and path are used.
        """
        if kind is None:
            kind, can_retry, judged = self._judged(error)
            message = message or judged
        known = self._extra(method=method, url=url, error_type=type(error).__name__)
        detail = self._detail(error, method, url)
        message = message or f"The request to {self._inside} failed."
        return NetworkTransportError(message, detail, kind=kind, can_retry=can_retry, extra=known)

    def unsent(
        self, error: BaseException, message: str | None = None, *, method: str | None = None, url: str | None = None
    ) -> FatalToolError:
        """The error for a request that never left: nothing that the caller can mend.

        Args:
            error: what the client raised.
            message: what the caller is told.
            method: of the request.
            url: of the request; only its host and path are used.
        """
        known = self._extra(method=method, url=url, error_type=type(error).__name__)
        message = message or f"The request that the tool made to {self._inside} cannot be sent."
        return FatalToolError(message, self._detail(error, method, url), extra=known)

    @property
    def _inside(self) -> str:
        """The name within a sentence."""
        return f"the {self.name[4:]}" if self.name.startswith("The ") else self.name

    def _judged(self, error: BaseException) -> tuple[ErrorKind, bool, str]:
        for one in _made_of(error):
            if instance_of(one, "ssl", "SSLError") and not instance_of(one, "ssl", *_BROKEN_OFF):
                message = f"No secure connection to {self._inside} could be made."
                return ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, False, message
            if isinstance(one, TimeoutError):
                return ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, True, f"{self.name} did not answer in time."
        return ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True, f"{self.name} could not be reached."

    def _extra(self, method: str | None, url: str | None, **more: Any) -> dict[str, Any]:
        given = {"service": self.slug, "endpoint": _endpoint(url), "http_method": method, **more}
        return {name: value for name, value in given.items() if value is not None}

    def _detail(self, error: BaseException, method: str | None, url: str | None, *more: str | None) -> str:
        """For the log."""
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return " ".join(filter(None, (name, method, _endpoint(url), *more)))


def error_code(value: object) -> str | None:
    """A service's own word for what went wrong, None where the value is anything else.

    A word like "channel_not_found" or "RESOURCE_EXHAUSTED": letters, in parts, at most 64 characters. It comes out of
    the answer's body, so what looks otherwise - text, identifiers, tokens - does not pass.
    """
    if isinstance(value, str) and len(value) <= _MAX_CODE_CHARACTERS and _CODE.fullmatch(value):
        return value
    return None


def instance_of(error: object, module: str, *names: str) -> bool:
    """Whether an exception is one of a module's classes; the module is looked up, and never imported.

    Args:
        error: the exception.
        module: where the classes are, such as "slack_sdk.errors".
        names: of the classes.
    """
    loaded = sys.modules.get(module)
    classes = [getattr(loaded, name, None) for name in names]
    return isinstance(error, tuple(one for one in classes if isinstance(one, type)))


def _made_of(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it wraps: its cause, its reason, what it was given."""
    found = [error]
    for one in found:
        yield one
        inner = [one.__cause__, getattr(one, "reason", None), *one.args]
        found += [more for more in inner if isinstance(more, BaseException) and len(found) < _LINKS]


def _status(status: int) -> str:
    """The number with the name that the standard gives it; the service's own words stay out."""
    from http import HTTPStatus

    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _later(wait: int) -> str:
    seconds = math.ceil(wait / 1000)
    return f"Try again in {seconds} second{'' if seconds == 1 else 's'}."


def _endpoint(url: str | None) -> str | None:
    """Host and path of a URL, without user, password, query and fragment."""
    try:
        parts = urlsplit(url or "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    name = f"[{host}]" if ":" in host else host
    return (f"{name}:{port}{parts.path}" if port is not None else f"{name}{parts.path}") or None
