"""The pages that people see: the consent to a client, and errors."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlsplit

from pegboard.types import Response
from pegboard_client import browser_page, message_page
from pegboard_plugins.auth.login.login_clients import LoginClient, names_document, names_loopback
from pegboard_plugins.auth.login.login_metadata import CONSENT_ANSWER


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
    access = "".join(f"<code>{escape(scope)}</code>" for scope in scopes) or "tools that need no scopes"
    facts = {
        "Program": escape(client.name or "a program without a name"),
        "Proof of its name": escape(_proof(client, redirect_uri)),
        "Result goes to": escape(_destination(redirect_uri)),
        "Access": access,
    }
    rows = "".join(f"<dt>{title}</dt><dd>{content}</dd>" for title, content in facts.items())
    body = (
        f"<h1>Allow access to {escape(host)}?</h1><dl>{rows}</dl>{_advice(client, redirect_uri)}"
        f'<form method="post" action="{CONSENT_ANSWER}">'
        f'<input type="hidden" name="request" value="{escape(sealed)}">'
        '<button name="answer" value="deny">Deny</button>'
        '<button name="answer" value="allow" class="main">Allow</button></form>'
    )
    return browser_page(200, "Allow access?", body, headers)


def error_page(status: int, problem: str) -> Response:
    """Return a problem for the person. Nothing is sent to the client."""
    return message_page(status, f"Login failed: {problem}")


def _is_proven(client: LoginClient, redirect_uri: str) -> bool:
    return names_document(client.id) and redirect_uri.startswith("https:") and not names_loopback(redirect_uri)


def _advice(client: LoginClient, redirect_uri: str) -> str:
    advice = "Allow it only if you have just started this login in that program."
    if _is_proven(client, redirect_uri):
        return f"<p>{advice}</p>"
    return f'<p class="note">The name of this program is not verified. {advice}</p>'


def _proof(client: LoginClient, redirect_uri: str) -> str:
    if not names_document(client.id):
        return "none: the program named itself"
    if _is_proven(client, redirect_uri):
        return f"its web address, {client.id}"
    return f"none: it claims to be {client.id}, but each program on your computer can do that"


def _destination(redirect_uri: str) -> str:
    parts = urlsplit(redirect_uri)
    if names_loopback(redirect_uri):
        return f"{parts.netloc}, a program on your own computer"
    return parts.netloc if parts.scheme == "https" else f"the application for {parts.scheme}: links on your computer"
