"""The renewal of tokens: once for concurrent calls and processes, and without a loss when a process is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.auth.vault.vault_store import VaultCipher, VaultError, VaultToken
from tests.host.hosting import WAIT
from tests.plugins.auth.vault.conftest import KEY, fresh_token, logins
from tests.support.login_server import LoginServer
from tests.support.provider_server import ProviderServer

EXPIRED = VaultToken("access-0-canary", "refresh-0-canary", 0.0, ("read",), "octocat")
PROGRAM = """
import asyncio, json, sys
from tests.plugins.auth.vault.conftest import KEY, logins
token = asyncio.run(logins(json.loads(sys.argv[1])).tokens.fresh(KEY))
print(token.access_token)
"""


@pytest.fixture(autouse=True)
async def expired(flows: LoginFlows) -> None:
    """The vault has an expired token."""
    await flows.tokens.save(KEY, EXPIRED)


def held(provider: ProviderServer) -> tuple[asyncio.Event, asyncio.Event]:
    """Let the token endpoint wait. Return the event of a request, and the event that lets it go on."""
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await goes_on.wait()

    provider.before_token = wait
    return asked, goes_on


async def cancelled(flows: LoginFlows, provider: ProviderServer) -> asyncio.Event:
    """Cancel a call during a renewal, and return the event that lets the renewal go on."""
    asked, goes_on = held(provider)
    first = asyncio.create_task(flows.tokens.fresh(KEY))
    await asked.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    return goes_on


async def renewing(provider: ProviderServer) -> asyncio.subprocess.Process:
    settings = json.dumps(provider.settings())
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, settings, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[4]
    )


async def test_concurrent_calls_share_one_renewal(flows: LoginFlows, provider: ProviderServer) -> None:
    tokens = await asyncio.gather(*(fresh_token(flows, "read") for _ in range(10)))
    assert {token.access_token for token in tokens} == {"access-1-canary"}
    assert [form["refresh_token"] for form in provider.forms] == ["refresh-0-canary"]


async def test_a_process_holds_the_lock_only_for_the_request_of_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Metadata may take several requests. Then the lock would expire, and another process use the refresh token."""
    async with LoginServer() as server:
        flows = logins({"client_id": "pegboard", "issuer": server.issuer})
        lock, asked_before = flows.tokens.lock, list[str]()

        def noted(name: str) -> AbstractAsyncContextManager[bool]:
            asked_before.extend(server.asked)
            return lock(name)

        monkeypatch.setattr(flows.tokens, "lock", noted)
        assert (await fresh_token(flows)).access_token == "token-1"
        assert server.asked == [*asked_before, "POST /token"]
        await flows.aclose()


async def test_a_refresh_token_without_rotation_is_kept(flows: LoginFlows, provider: ProviderServer) -> None:
    provider.reply = {"refresh_token": None, "expires_in": "3600"}
    fresh = await fresh_token(flows)
    assert (fresh.refresh_token, fresh.account) == ("refresh-0-canary", "octocat")


async def test_an_invalid_refresh_token_is_used_once(flows: LoginFlows, provider: ProviderServer) -> None:
    provider.replies = [(400, {"error": "invalid_grant"})]
    assert [await flows.tokens.fresh(KEY) for _ in range(2)] == [None, None]
    assert len(provider.forms) == 1


@pytest.mark.parametrize("reply", [(503, {}), (429, {}), (401, {"error": "invalid_client"}), (200, {})])
async def test_a_failure_of_the_provider_loses_no_refresh_token(
    reply: tuple[int, dict[str, str]], flows: LoginFlows, provider: ProviderServer
) -> None:
    provider.replies = [reply]
    with pytest.raises(LoginFailedError):
        await flows.tokens.fresh(KEY)
    assert (await fresh_token(flows)).access_token == "access-2-canary"


async def test_a_cancelled_call_does_not_cancel_the_renewal(flows: LoginFlows, provider: ProviderServer) -> None:
    goes_on = await cancelled(flows, provider)
    second = asyncio.create_task(fresh_token(flows))
    goes_on.set()
    await second
    assert len(provider.forms) == 1


async def test_the_end_of_the_host_does_not_cancel_a_renewal(flows: LoginFlows, provider: ProviderServer) -> None:
    goes_on = await cancelled(flows, provider)
    ended = asyncio.create_task(flows.aclose())
    await asyncio.sleep(0)
    goes_on.set()
    await ended
    kept = await flows.tokens.load(KEY)
    assert kept is not None
    assert kept.refresh_token == "refresh-1-canary"


async def test_a_vault_that_cannot_be_written_does_not_use_the_refresh_token(
    monkeypatch: pytest.MonkeyPatch, flows: LoginFlows, provider: ProviderServer
) -> None:
    def fail(*_: object) -> bytes:
        raise VaultError("the file cannot be used: database or disk is full")

    with monkeypatch.context() as full:
        full.setattr(VaultCipher, "seal", fail)
        with pytest.raises(VaultError, match="disk is full"):
            await flows.tokens.fresh(KEY)
    assert provider.forms == []
    await fresh_token(flows)


@pytest.mark.parametrize("later", [None, VaultToken("access-of-bob", "refresh-of-bob", None)])
async def test_a_renewal_replaces_only_the_token_that_it_renews(
    later: VaultToken | None, flows: LoginFlows, provider: ProviderServer
) -> None:
    """Logout, or a login with another account, while the provider renews the token."""
    asked, goes_on = held(provider)
    renewal = asyncio.create_task(flows.tokens.fresh(KEY))
    await asked.wait()
    await (flows.tokens.remove(KEY) if later is None else flows.tokens.save(KEY, later))
    goes_on.set()
    assert await renewal == await flows.tokens.load(KEY) == later
    assert provider.revoked == (["refresh-1-canary"] if later is None else [])


async def test_a_renewed_token_without_the_scopes_is_not_used(flows: LoginFlows, provider: ProviderServer) -> None:
    provider.reply = {"scope": "other"}
    assert await flows.tokens.fresh(KEY, ["read"]) is None


@pytest.mark.skipif(os.name != "posix", reason="it kills a process and needs locks of files")
async def test_processes_renew_once_and_a_killed_one_loses_nothing(provider: ProviderServer) -> None:
    asked, goes_on = held(provider)
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
