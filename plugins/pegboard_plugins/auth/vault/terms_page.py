"""The page on which a person agrees to a login at a mounted server, or pastes a key of it."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from pegboard.plugin import LoginTerms
from pegboard.types import Response
from pegboard_client import browser_page


def terms_page(terms: LoginTerms, login: str, action: str, following: str, logins: str) -> Response:
    """Return the question to the person.

    Args:
        terms: the facts of the login.
        login: its id.
        action: the path that receives the answer.
        following: the page to which the browser goes after the consent; "" for none.
        logins: the address of the page on which the person ends logins.
    """
    facts = {
        "Program": escape(terms.program or "a program without a name"),
        "Server": escape(f"{terms.server}, {urlsplit(terms.url).netloc}"),
        "Account at": escape(terms.issuer),
        "Key": escape(terms.key),
        "Access": _codes(terms.scopes) if terms.scopes or not terms.issuer else "what the server decides",
        "New": _codes(terms.added),
        "Next page": escape(urlsplit(following).netloc),
    }
    rows = "".join(f"<dt>{title}</dt><dd>{content}</dd>" for title, content in facts.items() if content)
    key = "" if not terms.key else '<input type="password" name="key" required autocomplete="off" aria-label="Key">'
    title = f"Use your {'account' if terms.issuer else 'key'} at {escape(terms.server)}?"
    body = (
        f'<h1>{title}</h1><dl>{rows}</dl><p class="note">Allow it only if you have just used this program. '
        f"You can end this at {escape(logins)}.</p>"
        f'<form method="post" action="{action}"><input type="hidden" name="id" value="{escape(login)}">{key}'
        '<button name="answer" value="deny" formnovalidate>Deny</button>'
        '<button name="answer" value="allow" class="main">Allow</button></form>'
    )
    return browser_page(200, "Allow access?", body)


def _codes(texts: tuple[str, ...]) -> str:
    return "".join(f"<code>{escape(text)}</code>" for text in texts)
