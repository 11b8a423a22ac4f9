"""The renewal of tokens: once for concurrent calls and processes, and without a loss when a process is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.auth.vault.vault_store import VaultCipher, VaultError, VaultToken
from tests.host.hosting import WAIT
from tests.plugins.auth.vault.conftest import KEY, logins
from tests.support.provider_server import ProviderServer

EXPIRED = VaultToken("access-0-canary", "refresh-0-canary", 0.0, ("read",), "octocat")
PROGRAM = """
import asyncio, json, sys
from tests.plugins.auth.vault.conftest import KEY, logins
token = asyncio.run(logins(json.loads(sys.argv[1])).tokens.fresh(KEY))
print(token.access_token)
"""


async def expired(provider: ProviderServer) -> LoginFlows:
    """Return logins with an expired token."""
    flows = logins(provider.settings())
    await flows.tokens.save(KEY, EXPIRED)
    return flows


def held(provider: ProviderServer) -> tuple[asyncio.Event, asyncio.Event]:
    """Let the token endpoint wait. Return the event of a request, and the event that lets it go on."""
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await goes_on.wait()

    provider.before_token = wait
    return asked, goes_on


async def cancelled(provider: ProviderServer) -> tuple[LoginFlows, asyncio.Event]:
    """Return logins whose call was cancelled during a renewal, and the event that lets the renewal go on."""
    asked, goes_on = held(provider)
    flows = await expired(provider)
    first = asyncio.create_task(flows.tokens.fresh(KEY))
    await asked.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    return flows, goes_on


async def renewing(provider: ProviderServer) -> asyncio.subprocess.Process:
    """Start a process that renews the token."""
    import json

    settings = json.dumps(provider.settings())
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, settings, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[4]
    )


async def test_concurrent_calls_share_one_renewal(provider: ProviderServer) -> None:
    flows = await expired(provider)
    tokens = await asyncio.gather(*(flows.tokens.fresh(KEY, ["read"]) for _ in range(10)))
    assert {token.access_token for token in tokens if token} == {"access-1-canary"}
    assert [form["refresh_token"] for form in provider.forms] == ["refresh-0-canary"]


async def test_a_refresh_token_without_rotation_is_kept(provider: ProviderServer) -> None:
    provider.reply = {"refresh_token": None, "expires_in": "3600"}
    flows = await expired(provider)
    fresh = await flows.tokens.fresh(KEY)
    assert fresh is not None
    assert (fresh.refresh_token, fresh.account) == ("refresh-0-canary", "octocat")


async def test_an_invalid_refresh_token_is_used_once(provider: ProviderServer) -> None:
    provider.replies = [(400, {"error": "invalid_grant"})]
    flows = await expired(provider)
    assert await flows.tokens.fresh(KEY) is None
    assert await flows.tokens.fresh(KEY) is None
    assert len(provider.forms) == 1


@pytest.mark.parametrize("reply", [(503, {}), (429, {}), (401, {"error": "invalid_client"}), (200, {})])
async def test_a_failure_of_the_provider_loses_no_refresh_token(
    reply: tuple[int, dict[str, str]], provider: ProviderServer
) -> None:
    provider.replies = [reply]
    flows = await expired(provider)
    with pytest.raises(LoginFailedError):
        await flows.tokens.fresh(KEY)
    fresh = await flows.tokens.fresh(KEY)
    assert fresh is not None
    assert fresh.access_token == "access-2-canary"


async def test_a_cancelled_call_does_not_cancel_the_renewal(provider: ProviderServer) -> None:
    flows, goes_on = await cancelled(provider)
    second = asyncio.create_task(flows.tokens.fresh(KEY))
    goes_on.set()
    fresh = await second
    assert fresh is not None
    assert len(provider.forms) == 1


async def test_the_end_of_the_host_does_not_cancel_a_renewal(provider: ProviderServer) -> None:
    flows, goes_on = await cancelled(provider)
    ended = asyncio.create_task(flows.close())
    await asyncio.sleep(0)
    goes_on.set()
    await ended
    kept = await flows.tokens.load(KEY)
    assert kept is not None
    assert kept.refresh_token == "refresh-1-canary"


async def test_a_vault_that_cannot_be_written_does_not_use_the_refresh_token(
    monkeypatch: pytest.MonkeyPatch, provider: ProviderServer
) -> None:
    flows = await expired(provider)

    def fail(*_: object) -> bytes:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as full:
        full.setattr(VaultCipher, "seal", fail)
        with pytest.raises(VaultError, match="disk is full"):
            await flows.tokens.fresh(KEY)
    assert provider.forms == []
    assert await flows.tokens.fresh(KEY) is not None


@pytest.mark.parametrize("later", [None, VaultToken("access-of-bob", "refresh-of-bob", None)])
async def test_a_renewal_replaces_only_the_token_that_it_renews(
    later: VaultToken | None, provider: ProviderServer
) -> None:
    """Logout, or a login with another account, while the provider renews the token."""
    asked, goes_on = held(provider)
    flows = await expired(provider)
    renewal = asyncio.create_task(flows.tokens.fresh(KEY))
    await asked.wait()
    await (flows.tokens.remove(KEY) if later is None else flows.tokens.save(KEY, later))
    goes_on.set()
    assert await renewal == await flows.tokens.load(KEY) == later
    assert provider.revoked == (["refresh-1-canary"] if later is None else [])


async def test_a_renewed_token_without_the_scopes_of_the_tool_is_not_used(provider: ProviderServer) -> None:
    provider.reply = {"scope": "other"}
    flows = await expired(provider)
    assert await flows.tokens.fresh(KEY, ["read"]) is None


@pytest.mark.skipif(os.name != "posix", reason="it kills a process and needs locks of files")
async def test_processes_renew_once_and_a_killed_one_loses_nothing(provider: ProviderServer) -> None:
    asked, goes_on = held(provider)
    await expired(provider)
    killed = await renewing(provider)
    async with asyncio.timeout(WAIT):
        await asked.wait()
    killed.send_signal(signal.SIGKILL)
    await killed.communicate()
    asked.clear()
    first, second = await renewing(provider), await renewing(provider)
    async with asyncio.timeout(WAIT):
        await asked.wait()
    goes_on.set()
    outputs = [await process.communicate() for process in (first, second)]
    assert [out for out, _ in outputs] == [b"access-2-canary\n", b"access-2-canary\n"]
    assert [form["refresh_token"] for form in provider.forms] == ["refresh-0-canary"] * 2
