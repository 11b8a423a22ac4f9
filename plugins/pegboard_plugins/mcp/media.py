"""What bodies a client may send and must take."""

from __future__ import annotations

from pegboard import Headers, Response

JSON = "application/json"


def unacceptable(headers: Headers) -> Response | None:
    """Why a POST cannot be served by its media types; None when it can."""
    media, _, parameters = (headers.get("Content-Type") or "").partition(";")
    charset = parameters.lower().replace(" ", "").replace('"', "")
    if media.strip().lower() != JSON or ("charset=" in charset and "charset=utf-8" not in charset):
        return Response(415, b"The body must be application/json in UTF-8.\n", "text/plain")
    accepted = headers.get("Accept")
    if accepted is None:
        return None
    ranges = {part.partition(";")[0].strip().lower() for part in accepted.split(",")}
    if ranges & {JSON, "text/event-stream", "application/*", "text/*", "*/*"}:
        return None
    return Response(406, b"Accept must list application/json and text/event-stream.\n", "text/plain")
