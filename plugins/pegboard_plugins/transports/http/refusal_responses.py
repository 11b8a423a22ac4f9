"""The responses of the HTTP servers to requests that they refuse or end."""

from __future__ import annotations

from pegboard.types import Response

_CLOSE = {"Connection": "close"}

BUSY = Response(status=503, body=b"The server is busy.\n", content_type="text/plain", headers={"Retry-After": "1"})
STOPPING = Response(
    status=503,
    body=b"The server is stopping; the request was cancelled before its end.\n",
    content_type="text/plain",
    headers=_CLOSE,
)
"""The response to a request that was stopped. It has no Retry-After, because the request may have had effects."""
TOO_SLOW = Response(status=408, body=b"The body arrived too slowly.\n", content_type="text/plain", headers=_CLOSE)
BROKEN = Response(
    status=400, body=b"The framing of the body is not valid HTTP.\n", content_type="text/plain", headers=_CLOSE
)
ENCODED = Response(
    status=415,
    body=b"Send the body without a content encoding.\n",
    content_type="text/plain",
    headers={"Accept-Encoding": "identity"},
)
CODED = Response(
    status=501,
    body=b"Send the body with no transfer coding but chunked.\n",
    content_type="text/plain",
    headers=_CLOSE,
)
"""The response to a body with an unknown transfer coding (RFC 9112 section 6.1)."""
TOOK_TOO_LONG = Response(status=504, body=b"The request took too long.\n", content_type="text/plain")
NO_ROOM = Response(
    status=503,
    body=b"There are too many large bodies.\n",
    content_type="text/plain",
    headers={"Retry-After": "1", **_CLOSE},
)

HEALTH_PATHS = frozenset(("/healthz", "/livez", "/readyz"))
"""The paths that are served even if the limit of requests is reached."""


def too_large(limit: int) -> Response:
    """Return the response to a body that is larger than the limit."""
    text = f"The body is larger than {limit} bytes. Raise [plugins.http] max_body_bytes to accept it.\n"
    return Response(status=413, body=text.encode(), content_type="text/plain", headers=_CLOSE)
