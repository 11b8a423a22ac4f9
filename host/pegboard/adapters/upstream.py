"""Typed errors for failures of services, shared by error adapters.

Messages do not contain queries of URLs, headers or bodies. They may contain error codes of the service.
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
"""The delay in milliseconds for a rate-limited request if the service names no delay."""

_CODE = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*")
_MAX_CODE_CHARACTERS = 64
_BROKEN_OFF = ("SSLEOFError", "SSLZeroReturnError", "SSLSyscallError")
_MAX_WRAPPED = 16
_NOTHING: Mapping[str, Any] = {}


class Upstream(NamedTuple):
    """A service, as an adapter describes it.

    Attributes:
        slug: the slug of the adapter. Errors contain the slug as `service` in `extra`.
        name: the name of the service in messages.
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
        """Return the error for an error response.

        Args:
            error: the exception of the client library. Only the name of its class is used.
            status: the HTTP status, or the status that describes the error best.
            headers: the headers of the response, with case-insensitive names.
            message: the message for the caller; None for a standard message.
            code: the error code of the service, for the message and `extra`. Only codes that `error_code` accepts are
                used: at most 64 characters, which are letters and single separators.
            method: the method of the request.
            url: the URL of the request. Only its scheme, host and path are used.
            limited: the service limits the rate of requests, although its status does not say so.
            wait_ms: the requested delay, if it is not in the headers.
            extra: more JSON-ready values for programs.

        Returns:
            An `UpstreamRateLimitError` if the service limits the rate of requests.
        """
        headers = lower(headers)
        word = self.error_code(code)
        wait = retry_after_ms(headers) if wait_ms is None else wait_ms
        facts = self._extra(method=method, url=url, error_code=word, **extra)
        detail = self._detail(error, method, url, str(status), word)
        shown = _status(status) if word is None else f"{_status(status)}, {word}"
        if limited or status == 429 or (status == 403 and (is_used_up(headers) or asks_to_wait(headers))):
            wait = wait or DEFAULT_WAIT_MS
            text = message or f"{self.name} limits how often it may be asked ({shown})."
            return UpstreamRateLimitError(f"{text} {_later(wait)}", wait, detail, extra=facts)
        text = message or f"{self.name} answered with an error: {shown}."
        if status < 500 or wait is None or not (wait_ms is not None or asks_to_wait(headers)):
            return UpstreamError(text, detail, status_code=status, extra=facts)
        answer = UpstreamError(f"{text} {_later(wait)}", detail, status_code=status, extra=facts)
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
        """Return the error for a missing or unreadable response.

        Args:
            error: the exception of the client library.
            message: the message for the caller.
            kind: a NETWORK_TRANSPORT kind. If None, the causes of `error` decide kind, message and `can_retry`.
            can_retry: True if the same call may succeed later.
            method: the method of the request.
            url: the URL of the request. Only its scheme, host and path are used.
        """
        if kind is None:
            kind, can_retry, judged = self._classified(error)
            message = message or judged
        facts = self._extra(method=method, url=url, error_type=type(error).__name__)
        detail = self._detail(error, method, url)
        message = message or f"The request to {self._inside} failed."
        return NetworkTransportError(message, detail, kind=kind, can_retry=can_retry, extra=facts)

    def unsent(
        self, error: BaseException, message: str | None = None, *, method: str | None = None, url: str | None = None
    ) -> FatalToolError:
        """Return the error for a request that could not be sent.

        Args:
            error: the exception of the client library.
            message: the message for the caller.
            method: the method of the request.
            url: the URL of the request. Only its scheme, host and path are used.
        """
        facts = self._extra(method=method, url=url, error_type=type(error).__name__)
        message = message or f"The request that the tool made to {self._inside} cannot be sent."
        return FatalToolError(message, self._detail(error, method, url), extra=facts)

    @staticmethod
    def error_code(value: object) -> str | None:
        """Return `value` if it is an error code of a service, or None.

        A code such as "channel_not_found" or "RESOURCE_EXHAUSTED" has only letters and separators, and at most 64
        characters. Sentences, identifiers and tokens in the body of a response are not codes.
        """
        if isinstance(value, str) and len(value) <= _MAX_CODE_CHARACTERS and _CODE.fullmatch(value):
            return value
        return None

    @property
    def _inside(self) -> str:
        """The name inside a sentence."""
        return f"the {self.name[4:]}" if self.name.startswith("The ") else self.name

    def _classified(self, error: BaseException) -> tuple[ErrorKind, bool, str]:
        for exception in _wrapped(error):
            if instance_of(exception, "ssl", "SSLError") and not instance_of(exception, "ssl", *_BROKEN_OFF):
                message = f"No secure connection to {self._inside} could be made."
                return ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, False, message
            if isinstance(exception, TimeoutError):
                return ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, True, f"{self.name} did not answer in time."
        return ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True, f"{self.name} could not be reached."

    def _extra(self, method: str | None, url: str | None, **more: Any) -> dict[str, Any]:
        facts = {"service": self.slug, "endpoint": _endpoint(url), "http_method": method, **more}
        return {name: value for name, value in facts.items() if value is not None}

    def _detail(self, error: BaseException, method: str | None, url: str | None, *more: str | None) -> str:
        """Return the details for the log."""
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return " ".join(filter(None, (name, method, _endpoint(url), *more)))


def instance_of(error: object, module: str, *names: str) -> bool:
    """Return True if an exception is an instance of one of the classes of a module, without importing the module.

    Args:
        error: the exception.
        module: the module of the classes, such as "slack_sdk.errors".
        names: the names of the classes.
    """
    loaded = sys.modules.get(module)
    classes = [getattr(loaded, name, None) for name in names]
    return isinstance(error, tuple(candidate for candidate in classes if isinstance(candidate, type)))


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its inner exceptions: the cause, the reason and the arguments."""
    exceptions = [error]
    for exception in exceptions:
        yield exception
        inner = [exception.__cause__, getattr(exception, "reason", None), *exception.args]
        exceptions += [more for more in inner if isinstance(more, BaseException) and len(exceptions) < _MAX_WRAPPED]


def _status(status: int) -> str:
    """Return a status code with its standard phrase. The service's own phrase is ignored."""
    from http import HTTPStatus

    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _later(wait: int) -> str:
    seconds = math.ceil(wait / 1000)
    return f"Try again in {seconds} second{'' if seconds == 1 else 's'}."


def _endpoint(url: str | None) -> str | None:
    """Return the scheme, host and path of a URL, without user, password, query and fragment."""
    try:
        parts = urlsplit(url or "")
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        return None
    name = f"[{host}]" if ":" in host else host
    start = f"{parts.scheme}://" if parts.scheme and name else ""
    return (f"{start}{name}:{port}{parts.path}" if port is not None else f"{start}{name}{parts.path}") or None
