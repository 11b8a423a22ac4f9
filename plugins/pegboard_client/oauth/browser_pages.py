"""Pages for people in a browser. They have no scripts, load nothing from other places, and cannot be framed."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape

from pegboard.types import Response

_STYLE = (
    ":root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#1c2228;--quiet:#59636e;--line:#d4dae0;"
    "--main:#1a5fb4;--on-main:#fff;--note:#fdf5e0;--note-line:#b7791f}"
    "@media(prefers-color-scheme:dark){:root{--back:#14171a;--card:#1d2125;--text:#e6e9ec;--quiet:#9aa5b0;"
    "--line:#3a4149;--main:#78aeed;--on-main:#10151b;--note:#332b17;--note-line:#d9a441}}"
    "*{box-sizing:border-box}"
    "body{margin:0;padding:clamp(1rem,6vh,4rem) 1rem 1rem;background:var(--back);color:var(--text);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}time{white-space:nowrap}"
    "main{max-width:32rem;margin:0 auto;padding:clamp(1.25rem,5vw,2.25rem);background:var(--card);"
    "border:1px solid var(--line);border-radius:12px}"
    "h1{margin:0 0 1rem;font-size:1.375rem;line-height:1.3}p{margin:0 0 1rem}"
    "main>:last-child{margin-bottom:0}"
    "dl{margin:1.25rem 0}dt{color:var(--quiet);font-size:.875rem}dd{margin:0 0 .875rem;overflow-wrap:anywhere}"
    "code{font:.875rem/1.5 ui-monospace,monospace;margin-right:.375rem;padding:.125rem .375rem;"
    "border:1px solid var(--line);border-radius:4px}"
    ".note{margin:0 0 1.25rem;padding:.75rem 1rem;background:var(--note);border-left:4px solid var(--note-line);"
    "border-radius:4px}"
    "form{display:flex;flex-wrap:wrap;gap:.75rem;margin:0}"
    "button{flex:1 1 8rem;padding:.625rem 1rem;font:inherit;font-weight:600;color:inherit;background:none;"
    "border:1px solid var(--line);border-radius:8px;cursor:pointer}"
    "button.main{color:var(--on-main);background:var(--main);border-color:var(--main)}"
    "button:focus-visible{outline:3px solid var(--note-line);outline-offset:2px}"
)
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    # no form-action: browsers apply it to the redirects after a form, which may lead to other sites
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send forms with the origin "null"
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""The header fields of every page, and of redirects between pages."""
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def browser_page(status: int, title: str, body: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page.

    Args:
        status: the HTTP status.
        title: the title, as text.
        body: the content, as HTML. The class "main" marks the main button, "note" a warning.
        headers: more header fields.
    """
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    text = f'<!doctype html><html lang="en">{head}<style>{_STYLE}</style><main>{body}</main></html>'
    return Response(status, text.encode(), "text/html; charset=utf-8", {**PAGE_HEADERS, **(headers or {})})


def message_page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page with a message.

    Args:
        status: the HTTP status.
        text: one or more sentences, without the last full stop. The title ends at the first full stop or colon.
        headers: more header fields.
    """
    title, *rest = re.split(r"[.:] ", text, maxsplit=1)
    more = "".join(f"<p>{escape(sentence[:1].upper() + sentence[1:])}.</p>" for sentence in rest)
    return browser_page(status, title, f"<h1>{escape(title)}</h1>{more}", headers)


def foreign_page(origin: str, hosts: Sequence[str], origins: Sequence[str]) -> Response | None:
    """Return the refusal of a request with another Host or Origin than those of a page, or None.

    Browsers send the cookies of a host to each of its ports, and let a name of an attacker name this machine.

    Args:
        origin: the origin of the page.
        hosts: the fields `Host` of the request.
        origins: its fields `Origin`.
    """
    scheme, own = origin.partition("://")[0], _normal(origin)
    if [_normal(f"{scheme}://{host}") for host in hosts] == [own] and all(_normal(other) == own for other in origins):
        return None
    return message_page(403, f"This page belongs to {origin}. Open it there")


def _normal(origin: str) -> str:
    """Return an origin in small letters, and without a default port (RFC 3986, section 6.2)."""
    origin = origin.strip().lower()
    return origin.removesuffix(_DEFAULT_PORTS.get(origin.partition("://")[0], " "))
