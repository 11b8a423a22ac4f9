"""Arguments of commands that name a server: its URL, and headers."""

from __future__ import annotations

import argparse


def url_argument(text: str) -> str:
    """Return an HTTP URL of the command line."""
    scheme, _, rest = text.partition("://")
    if scheme not in ("http", "https") or not rest or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not an http or https URL")
    return text


def header_argument(text: str) -> tuple[str, str]:
    """Return the name and the value of a header."""
    name, colon, value = text.partition(":")
    if not colon or not name.isascii() or not name.replace("-", "").isalnum() or not value.isprintable():
        raise argparse.ArgumentTypeError("a header has the form 'NAME: VALUE'")  # the value may be a secret
    return name, value.strip()
