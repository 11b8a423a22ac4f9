"""What docs/error-adapters.md shows is what happens: its adapter runs, and its table is what is there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pegboard import Toolkit, ToolkitError
from tests.docs.pages import Page
from tests.host.hosting import failure, make_host

PAGE = Page("docs/error-adapters.md")
LIBRARY = """
class AcmeAnswered(Exception):
    status, reason = 429, "too_many"
    headers = {"Retry-After": "3"}
    url = "https://acme.example/v1/it?token=canary"

class AcmeSilent(Exception): ...
"""


async def test_the_adapter_translates_the_errors_of_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_client.py").write_text(LIBRARY, "utf-8")
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    mine = import_module("pegboard_acme")
    kit = Toolkit("t", prefix=False)

    @kit.tool
    def fails(name: str) -> None:
        """Fail."""
        raise getattr(import_module("acme_client"), name)("canary") from TimeoutError()

    async with make_host(kit, plugins={"acme": mine.AcmePlugin}) as host:
        limited, silent = [
            (await failure(host, "fails", {"name": f"Acme{suffix}"})).error for suffix in ("Answered", "Silent")
        ]
    assert isinstance(limited, ToolkitError)
    reason = "Acme limits how often it may be asked (429 Too Many Requests, too_many). Try again in 3 seconds."
    assert limited.message == reason
    assert limited.extra == {"service": "acme", "endpoint": "https://acme.example/v1/it", "error_code": "too_many"}
    assert silent.message == "Acme did not answer in time."
