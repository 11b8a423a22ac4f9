"""`pegboard people`: the people who are logged in at this host, and the end of their logins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pegboard.plugin import Command, ToolRuntimeError, encode
from pegboard_plugins.login.grant_store import GrantStore, LoginGrant


class NoSuchLoginError(ToolRuntimeError):
    """No login matches."""


def people_command(grants: Callable[[], GrantStore], checked_seconds: float) -> Command:
    """Return the command.

    Args:
        grants: returns the logins of people.
        checked_seconds: the maximum time for which access tokens of a login that has ended are accepted.
    """

    def run(options: Any) -> str:
        if options.end is not None:
            count = asyncio.run(_ended(grants(), options.end))
            if options.json:
                return encode({"ended": count, "refused_within_seconds": checked_seconds}).decode()
            logins = "1 login has" if count == 1 else f"{count} logins have"
            return f"{logins} ended. Access tokens are refused within {checked_seconds:.0f} seconds."
        rows = [_row(one) for one in asyncio.run(grants().find(lambda one: True))]
        if options.json:
            return encode(rows).decode()
        return "\n".join(map(_line, rows)) or "Nobody is logged in."

    who = {"metavar": "WHO", "help": "end all logins of an address, user name or subject, or one login by its id"}
    return Command(
        name="people",
        summary="list the people who are logged in at this server, or end their logins",
        run=run,
        arguments=[("--end", who)],
        examples=("pegboard people", "pegboard people --end ann@example.com"),
    )


async def _ended(grants: GrantStore, who: str) -> int:
    """End the logins of a person. Return their number."""

    def matches(grant: LoginGrant) -> bool:
        person = grant.person
        return bool(who) and (who in (grant.label, person.login, person.subject) or who.lower() == person.email)

    found = await grants.find(matches)
    if not found:
        raise NoSuchLoginError(f"there is no login of {who!r}: `pegboard people` lists all")
    await grants.remove(*found)
    return len(found)


def _row(grant: LoginGrant) -> dict[str, Any]:
    person = grant.person
    return {
        "id": grant.label,
        "person": person.email or person.login,
        "subject": person.subject,
        "client": grant.client_name,
        "destination": grant.destination,
        "scopes": list(grant.scopes),
        "expires_at": grant.until,
    }


def _line(row: dict[str, Any]) -> str:
    client = f"{row['client'] or 'a program without a name'} at {row['destination']}"
    return f"{row['id']} {row['person']}: {client}; {' '.join(row['scopes']) or 'no scopes'}; until {row['expires_at']}"
