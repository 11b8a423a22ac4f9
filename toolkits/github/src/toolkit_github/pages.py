"""What an answer says about further pages (RFC 8288, as GitHub uses it). It does no I/O."""

import re
from urllib.parse import parse_qs, urlsplit

__all__ = ["next_page"]

_LINK = re.compile(r'<([^<>]*)>\s*;\s*rel="?next"?')


def next_page(link: str) -> int | None:
    """Give the number of the next page by a `Link` header, None where there is none."""
    found = _LINK.search(link)
    if found is None:
        return None
    try:
        (number,) = parse_qs(urlsplit(found[1]).query)["page"]
        page = int(number) if number.isascii() and len(number) < 10 else 0
    except (KeyError, ValueError):
        return None
    return page if page > 1 else None
