"""What docs/state.md shows is what happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pegboard_testing import connect
from tests.docs.pages import Page

PAGE = Page("docs/state.md")


@pytest.fixture(autouse=True)
def _written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("toolkit_cart", "toolkit_library", "test_library"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))


def test_its_test_passes() -> None:
    import test_library  # type: ignore[import-not-found]

    test_library.test_books_are_counted()


async def test_calls_share_a_file_and_the_client_of_a_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from toolkit_library import kit  # type: ignore[import-not-found]

    async with connect(kit, config={"file": str(tmp_path / "books.db")}) as client:
        assert [(await client.call("add", title=title)).value for title in ("Emma", "Persuasion")] == [1, 2]
        for _ in range(2):
            assert (await client.call("cover", title="Emma")).value == "https://covers.example/emma.png"
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == "closed\n"


async def test_a_session_has_a_cart() -> None:
    from toolkit_cart import kit  # type: ignore[import-not-found]

    async with connect(kit, revision="2025-11-25") as client:
        assert [(await client.call("put", article="tea")).text for _ in range(2)] == ['["tea"]', '["tea","tea"]']
        assert (await client.call("empty")).value == "empty"
        assert (await client.call("put", article="honey")).text == '["honey"]'
    async with connect(kit) as client:
        error = (await client.call("put", article="tea")).error
        assert error is not None
        assert "This call has none: MCP 2026-07-28" in error.message
        assert "a store of the toolkit by `context.user_id`" in error.message


async def test_hosts_of_a_user_seal_with_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path / "state"))
    from toolkit_cart import kit

    seals = set()
    for _ in range(2):
        seal = PAGE.module("pegboard_seal/__init__.py", "pegboard_seal")
        async with connect(kit, plugins={"seal": seal}, revision="2025-11-25") as client:
            seals.add(str((await client.call("empty")).meta))
    assert len(seals) == 1
    assert "com.example/seal" in seals.pop()
