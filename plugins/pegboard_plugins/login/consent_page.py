"""The pages that people see: the consent to a client, and errors. They have no scripts, and cannot be framed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from urllib.parse import urlsplit

from pegboard.types import Response
from pegboard_plugins.login.login_clients import LoginClient, names_loopback
from pegboard_plugins.login.login_metadata import CONSENT_ANSWER

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}"
    "dt{color:#666}dd{margin:0 0 1rem;overflow-wrap:anywhere}"
    "button{font:inherit;padding:.5rem 1.5rem;margin-right:1rem}"
)
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    # no form-action: browsers apply it to the redirects after a form, which lead to the provider and to the client
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send the form with the origin "null"
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def consent_page(
    host: str, client: LoginClient, redirect_uri: str, scopes: tuple[str, ...], sealed: str, headers: Mapping[str, str]
) -> Response:
    """Return the question to the person.

    Args:
        host: the title of this host.
        client: the client.
        redirect_uri: the redirect URI that will receive the code.
        scopes: the scopes that the client requests.
        sealed: the request, signed for the browser of the person.
        headers: more headers.
    """
    facts = {
        "Program": client.name or "a program without a name",
        "Proof of its name": _proof(client, redirect_uri),
        "Result goes to": _destination(redirect_uri),
        "Access": ", ".join(scopes) or "tools that need no scopes",
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())
    body = (
        f"<h1>Allow access to {escape(host)}?</h1><dl>{rows}</dl>"
        "<p>Allow it only if you have just started this login in that program.</p>"
        f'<form method="post" action="{CONSENT_ANSWER}">'
        f'<input type="hidden" name="request" value="{escape(sealed)}">'
        '<button name="answer" value="deny">Deny</button><button name="answer" value="allow">Allow</button></form>'
    )
    return _page(200, "Allow access?", body, headers)


def error_page(status: int, problem: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem for the person. Nothing is sent to the client."""
    return _page(status, "Login failed", f"<h1>Login failed</h1><p>{escape(problem)}.</p>", headers or {})


def _proof(client: LoginClient, redirect_uri: str) -> str:
    if not client.host:
        return "none: the program named itself"
    if redirect_uri.startswith("https:") and not names_loopback(redirect_uri):
        return f"its web address, {client.id}"
    return f"none: it claims to be {client.id}, but each program on your computer can do that"


def _destination(redirect_uri: str) -> str:
    parts = urlsplit(redirect_uri)
    if names_loopback(redirect_uri):
        return f"{parts.netloc}, a program on your own computer"
    return parts.netloc if parts.scheme == "https" else f"the application for {parts.scheme}: links on your computer"


def _page(status: int, title: str, body: str, headers: Mapping[str, str]) -> Response:
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return Response(status, f"{head}{body}</html>".encode(), "text/html; charset=utf-8", {**PAGE_HEADERS, **headers})
