"""The address of a request that came through proxies: only trusted proxies may forward it."""

import pytest
from multidict import CIMultiDict

from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.settings import HttpConfig


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "peer"),
    [
        ((), "10.0.0.1", ["1.2.3.4"], "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", [], "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
        (("10.0.0.0/8",), "11.0.0.1", ["1.2.3.4"], "11.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6, 1.2.3.4, 10.0.0.2"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6", "1.2.3.4"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (("::1",), "::1", ["2001:db8::7"], "2001:db8::7"),
        (("10.0.0.0/8",), None, ["1.2.3.4"], ""),
        (("10.0.0.0/8",), "10.0.0.1", ["nonsense"], "nonsense"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6, 1.2.3.4:5678, 10.0.0.2:80"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["[2001:db8::7]:5678"], "2001:db8::7"),
    ],
)
def test_the_last_address_that_no_trusted_proxy_added(
    proxies: tuple[str, ...], remote: str | None, forwarded: list[str], peer: str
) -> None:
    guard = RequestGuard(HttpConfig(trusted_proxies=proxies), loopback=False)
    headers = CIMultiDict(("X-Forwarded-For", value) for value in forwarded)
    assert guard.peer(headers, remote) == peer
