"""Further pages of a response (RFC 8288, as GitHub uses it)."""

import re
from urllib.parse import parse_qs, urlsplit

__all__ = ["next_page"]

_LINK = re.compile(r'<([^<>]*)>\s*;\s*rel="?next"?')


def next_page(link: str) -> int | None:
    """Return the number of the next page in a `Link` header, None on the last page."""
    match = _LINK.search(link)
    if match is None:
        return None
    try:
        (number,) = parse_qs(urlsplit(match[1]).query)["page"]
        page = int(number) if number.isascii() and len(number) < 10 else 0
    except (KeyError, ValueError):
        return None
    return page if page > 1 else None
