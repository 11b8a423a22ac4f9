"""The state directory and the person of tests of logins, an issuer of access tokens, and a toolkit for its callers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pegboard import Context, Host, Toolkit
from pegboard.types import ToolAuthorization
from tests.host.hosting import authorization_error
from tests.plugins.auth.auth_token import door_kit
from tests.support.issuer import Issuer
from tests.support.person import person
from tests.support.pool import make_site

__all__ = ["person"]


def token_kit(**required: ToolAuthorization) -> Toolkit:
    """Return a toolkit with a tool for each requirement, which returns its token."""
    kit = Toolkit("t", prefix=False)

    def use(context: Context) -> str:
        """Use a token."""
        return context.get_auth_token_or_empty()

    for name, requirement in required.items():
        kit.tool(name=name, requires_auth=requirement)(use)
    return kit


async def link(host: Host, tool: str = "use") -> str:
    """Return the link in the error of a call without a token."""
    error = await authorization_error(host, tool)
    assert error.url
    assert error.url in error.message
    assert error.status == "pending"
    return error.url


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    return tmp_path


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("door"), {"door": door_kit})
