"""Connections to addresses that strangers choose."""

from __future__ import annotations

import pytest

from pegboard_client import AiohttpExchange, UnreachableError
from pegboard_client.aiohttp_exchange import is_public

V4 = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"]
V6 = ["::1", "::", "fe80::1%1", "fec0::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::a00:1"]


@pytest.mark.parametrize("address", [*V4, *V6, "64:ff9b:1::1", "::10.0.0.1"])
def test_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"])
def test_a_public_address(address: str) -> None:
    assert is_public(address)


async def test_an_exchange_for_public_addresses_uses_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    exchange = AiohttpExchange(public_only=True)
    with pytest.raises(UnreachableError, match="Permission denied"):
        async with exchange("GET", "https://10.0.0.1/", {}, None):
            raise AssertionError
    await exchange.close()
