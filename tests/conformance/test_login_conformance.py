"""Logins of the client against the official conformance suite."""

from __future__ import annotations

import sys

import pytest

from tests.conformance.suite import installed_suite

pytestmark = pytest.mark.timeout(600)  # the first run installs the suite


@pytest.mark.needs("pegboard_client")
@pytest.mark.parametrize(("suite", "scenarios"), [("auth", 14), ("draft", 11)])
def test_the_client_passes_every_login(suite: str, scenarios: int) -> None:
    found = installed_suite().run_client(f"{sys.executable} -m tests.conformance.login_client", suite)
    logins = {name: passed for name, passed in found.items() if name.startswith("auth/")}
    assert (len(logins), [name for name, passed in logins.items() if not passed]) == (scenarios, [])
