"""Parts of the problems that the assembly reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegboard.loading.discovery import provided

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken

MAX_NAMED_ITEMS = 3
"""The maximum number of tools or routes that a problem names. Others are only counted."""


def how_to_serve_both(what: str, owners: Sequence[str]) -> str:
    """Return how to serve two items of one kind that have one name.

    Args:
        what: the kind, such as "tool" or "route".
        owners: the names of their plugins.
    """
    rename = "use another URI for one of them" if what == "resource" else "give one of them another name"
    if what in ("tool", "prompt"):
        rename += f", as in @kit.{what}(name=...)"
    return rename if len({*owners}) == 1 else f"{rename}, or leave one out: `pegboard disable {owners[-1]}`"


def needing(what: str, names: Sequence[str]) -> str:
    """Return how many tools need a secret or token, with some of their names."""
    few = ("tool needs", "is") if len(names) == 1 else ("tools need", "are")
    return f"{len(names)} {few[0]} {what} and {few[1]} not offered over stdio: {some_names(names)}"


def or_log_in(token: MissingToken) -> str:
    """Return the command for the login, as the end of a sentence, or "" if there is none."""
    return f", or log in: `pegboard login {token.provider}`" if "login" in provided("commands") else ""


def some_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - MAX_NAMED_ITEMS} more" if len(names) > MAX_NAMED_ITEMS else ""
    return ", ".join(map(repr, names[:MAX_NAMED_ITEMS])) + more
