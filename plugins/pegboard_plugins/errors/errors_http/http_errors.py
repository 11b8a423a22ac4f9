"""Exceptions of HTTP clients as typed errors.

Classes are looked up in imported modules only: a library that is not imported cannot raise exceptions.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream, instance_of


class Cause(Enum):
    """The reason why there is no response."""

    REQUEST = "the request cannot be sent at all"
    TIMEOUT = "nothing came in time"
    INSECURE = "no secure connection could be made"
    UNREACHABLE = "no connection could be made, or it broke"
    REDIRECTS = "one redirection led to the next, or to nowhere"
    UNREADABLE = "what came cannot be decoded"
    OTHER = "the library's other failures"


_SILENCE = {
    Cause.TIMEOUT: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, True, "The service did not answer in time."),
    Cause.INSECURE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        False,
        "No secure connection to the service could be made.",
    ),
    Cause.UNREACHABLE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        True,
        "The service could not be reached.",
    ),
    Cause.REDIRECTS: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        False,
        "The service's redirections lead nowhere.",
    ),
    Cause.UNREADABLE: (
        ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        True,
        "The service sent a response that cannot be read.",
    ),
    Cause.OTHER: (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED, True, "The request to the service failed."),
}
"""For each cause: the error kind, True if a retry makes sense, and the message for the caller."""

Rules = tuple[tuple[Cause, tuple[str, ...]], ...]
"""The class names of one library for each cause. The first match counts. The last entry is the base class."""

_HTTPX: Rules = (
    (Cause.REQUEST, ("InvalidURL", "UnsupportedProtocol", "LocalProtocolError")),
    (Cause.TIMEOUT, ("TimeoutException",)),
    (Cause.REDIRECTS, ("TooManyRedirects",)),
    (Cause.UNREADABLE, ("DecodingError",)),
    (Cause.UNREACHABLE, ("TransportError",)),
    (Cause.OTHER, ("HTTPError",)),
)
_LIBRARIES: dict[str, Rules] = {
    "aiohttp": (
        (Cause.REDIRECTS, ("TooManyRedirects", "RedirectClientError")),
        (Cause.REQUEST, ("InvalidURL", "NonHttpUrlClientError")),
        (Cause.UNREADABLE, ("ContentTypeError",)),
        (Cause.TIMEOUT, ("ServerTimeoutError",)),
        (Cause.INSECURE, ("ServerFingerprintMismatch",)),
        (Cause.UNREACHABLE, ("ClientConnectionError", "ClientPayloadError", "ClientHttpProxyError")),
        (Cause.OTHER, ("ClientError",)),
    ),
    "aiohttp.http_exceptions": ((Cause.UNREACHABLE, ("HttpProcessingError",)),),
    "httpx": _HTTPX,
    "httpx2": _HTTPX,
    "requests.exceptions": (
        (Cause.UNREADABLE, ("ContentDecodingError", "JSONDecodeError")),
        (Cause.REQUEST, ("InvalidJSONError", "MissingSchema", "InvalidSchema", "InvalidURL", "InvalidHeader")),
        (Cause.REQUEST, ("URLRequired",)),
        (Cause.INSECURE, ("SSLError",)),
        (Cause.TIMEOUT, ("Timeout",)),
        (Cause.REDIRECTS, ("TooManyRedirects",)),
        (Cause.UNREACHABLE, ("ConnectionError", "ChunkedEncodingError", "RetryError")),
        (Cause.OTHER, ("RequestException",)),
    ),
    "urllib3.exceptions": (
        (Cause.REQUEST, ("LocationValueError",)),
        (Cause.INSECURE, ("SSLError",)),
        (Cause.UNREACHABLE, ("NewConnectionError",)),  # a subclass of a timeout in some versions
        (Cause.TIMEOUT, ("TimeoutError",)),
        (Cause.UNREADABLE, ("DecodeError", "InvalidHeader", "HeaderParsingError")),
        (Cause.REDIRECTS, ("ResponseError",)),
        (
            Cause.UNREACHABLE,
            ("MaxRetryError", "ProtocolError", "ProxyError", "IncompleteRead", "InvalidChunkLength"),
        ),
        (Cause.OTHER, ("HTTPError",)),
    ),
    "httplib2.error": (
        (Cause.REQUEST, ("RelativeURIError",)),
        (Cause.REDIRECTS, ("RedirectMissingLocation", "RedirectLimit")),
        (Cause.UNREADABLE, ("FailedToDecompressContent", "MalformedHeader")),
        (Cause.UNREACHABLE, ("ServerNotFoundError", "ProxiesUnavailableError")),
        (Cause.OTHER, ("HttpLib2Error",)),
    ),
    "urllib.error": ((Cause.UNREACHABLE, ("URLError",)),),
    "http.client": ((Cause.REQUEST, ("InvalidURL",)), (Cause.UNREACHABLE, ("HTTPException",))),
}
_STATUS_ERRORS = (
    ("aiohttp", "ClientResponseError", "status"),
    ("httpx", "HTTPStatusError", "status_code"),
    ("httpx2", "HTTPStatusError", "status_code"),
    ("requests.exceptions", "HTTPError", "status_code"),
    ("urllib.error", "HTTPError", "code"),
)
"""Exceptions that have a response, and the name of the attribute that holds the status."""

_RAISING_MODULES = ("aiohttp", "httplib2", "urllib.request", "http.client")
"""Modules that raise built-in exceptions, such as a bare TimeoutError."""

_CLOSED_CONNECTIONS = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
_MAX_WRAPPED = 8


def map_http_error(error: Exception, service: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries.

    Args:
        error: the exception that a tool raised.
        service: the name of the service in the error's `extra`.
    """
    upstream = Upstream(service)
    for module, name, attribute in _STATUS_ERRORS:
        if instance_of(error, module, name) and (response := _response(error, attribute)) is not None:
            method, url = _request(error)
            return upstream.answered(error, *response, method=method, url=url)
    cause = _by_class(error) or _builtin_cause(error)
    if cause is None:
        return None
    method, url = _request(error)
    if (status := _status_of_retries(error)) is not None:
        return upstream.answered(error, status, method=method, url=url)
    cause = _refine(cause, error)
    if cause is Cause.REQUEST:
        return upstream.unsent(error, method=method, url=url)
    kind, can_retry, message = _SILENCE[cause]
    return upstream.unanswered(error, message, kind=kind, can_retry=can_retry, method=method, url=url)


def _by_class(error: object) -> Cause | None:
    for module, rules in _LIBRARIES.items():
        for cause, names in rules:
            if instance_of(error, module, *names):
                return cause
    return None


def _builtin_cause(error: Exception) -> Cause | None:
    """Return the cause of a built-in exception that one of the libraries raised."""
    if not isinstance(error, TimeoutError | ConnectionError | ssl.SSLError):
        return None
    trace = error.__traceback__
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__"))
        if name in _RAISING_MODULES or name.partition(".")[0] in _RAISING_MODULES:
            return Cause.UNREACHABLE
        trace = trace.tb_next
    return None


def _response(error: Any, attribute: str) -> tuple[int, Mapping[str, str]] | None:
    """Return the status and the headers of the response of an exception, or None if it has no usable response."""
    response = getattr(error, "response", None)
    source = error if response is None else response
    status = getattr(source, attribute, None)
    if type(status) is not int or not 100 <= status <= 599:
        return None
    if _by_class(error) not in (None, Cause.OTHER, Cause.UNREACHABLE) and status < 400:
        return None  # the status is not the failure: endless redirects, an unexpected type
    if instance_of(error.__cause__, "aiohttp.http_exceptions", "HttpProcessingError"):
        return None  # the library's own status for a response that is not HTTP
    return status, getattr(source, "headers", None) or {}


def _request(error: Any) -> tuple[str | None, str | None]:
    """Return the request's method and URL if the exception or a wrapped exception has both."""
    for exception in _chain(error):
        request = _attribute(exception, "request") or _attribute(exception, "request_info")
        url = _attribute(request, "url") or _attribute(exception, "url") or _host_url(exception)
        if url is not None:
            method = _attribute(request, "method")
            return (None if method is None else str(method)), str(url)
    return None, None


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name, None)
    except RuntimeError:  # httpx raises it if there is no request
        return None


def _host_url(error: Any) -> str | None:
    host = _attribute(_attribute(error, "pool"), "host") or _attribute(error, "host")
    return f"//{host}" if isinstance(host, str) else None


def _status_of_retries(error: Exception) -> int | None:
    """Return the status of the last response before a library gave up retrying."""
    for exception in _chain(error):
        match = instance_of(exception, "urllib3.exceptions", "ResponseError") and re.fullmatch(
            r"too many (\d{3}) error responses", str(exception)
        )
        if match:
            return int(match[1])
    return None


def _refine(cause: Cause, error: Exception) -> Cause:
    """Return a wrapped exception's cause if it is more specific than `cause`."""
    if cause not in (Cause.UNREACHABLE, Cause.OTHER):
        return cause
    if instance_of(error, "urllib.error", "URLError") and isinstance(getattr(error, "reason", None), str):
        return cause if instance_of(error, "urllib.error", "ContentTooShortError") else Cause.REQUEST
    for exception in _chain(error):
        if isinstance(exception, ssl.SSLError) and not isinstance(exception, _CLOSED_CONNECTIONS):
            return Cause.INSECURE
        if isinstance(exception, TimeoutError):
            return Cause.TIMEOUT
        inner = _by_class(exception)
        if inner is Cause.UNREACHABLE:
            cause = inner
        elif inner not in (None, Cause.OTHER):
            return inner
    return cause


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Return the exception and the exceptions that it wraps."""
    exception: Any = error
    for _ in range(_MAX_WRAPPED):
        yield exception
        wrapped = [getattr(exception, "reason", None), *exception.args[:1], exception.__cause__]
        exception = next((inner for inner in wrapped if isinstance(inner, BaseException)), None)
        if exception is None:
            return
