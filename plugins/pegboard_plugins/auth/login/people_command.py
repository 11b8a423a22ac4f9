"""`pegboard people`: the people who are logged in at this host, and the end of their logins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pegboard import ToolRuntimeError
from pegboard.plugin import CommandContext, RecordStore, encode
from pegboard_plugins.auth.login.grant_store import GrantStore, LoginGrant, grants_in_file

T = TypeVar("T")


class NoSuchLoginError(ToolRuntimeError):
    """No login matches."""


def run_people(command: CommandContext) -> int:
    """Print the logins, or end some of them."""
    options, settings = command.options, command.settings
    if options.end is not None:
        count = _use(command, lambda grants: _ended(grants, options.end))
        seconds = settings.checked_seconds
        logins = "1 login has" if count == 1 else f"{count} logins have"
        ended = {"ended": count, "refused_within_seconds": seconds}
        text = f"{logins} ended. Access tokens are refused within {seconds:.0f} seconds."
        command.print(encode(ended).decode() if options.json else text)
        return 0
    rows = [_row(grant) for grant in _use(command, lambda grants: grants.find(lambda grant: True))]
    text = "\n".join(map(_line, rows)) or "Nobody is logged in."
    command.print(encode(rows).decode() if options.json else text)
    return 0


def _use(command: CommandContext, use: Callable[[GrantStore], Awaitable[T]]) -> T:
    settings = command.settings

    async def run() -> T:
        if settings.store is None:
            return await use(grants_in_file(settings.database))
        host = command.new_host()
        host.load()
        async with host.for_protocols.stores:
            return await use(GrantStore(lambda closing: host.for_protocols.store(RecordStore, settings.store)))

    return asyncio.run(run())


async def _ended(grants: GrantStore, who: str) -> int:
    """End the logins of a person. Return their number."""

    def matches(grant: LoginGrant) -> bool:
        person = grant.person
        return bool(who) and (who in (grant.label, person.login, person.subject) or who.lower() == person.email)

    logins = await grants.find(matches)
    if not logins:
        raise NoSuchLoginError(f"there is no login of {who!r}: `pegboard people` lists all")
    await grants.remove(*logins)
    return len(logins)


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
