"""Names of headers, and what the server puts into its own."""

from __future__ import annotations

import json

import pytest

from tests.support.http import Served
from tests.support.http_mcp import Session, call, exchange, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("HEAD-08")
@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.swapcase, str.title])
async def test_names_of_headers_have_no_case(served: Served, spelt: object) -> None:
    assert callable(spelt)
    one = modern(call("fixture_echo", {"text": "x"}))
    for name, code in (("fixture_echo", None), ("fixture_add", -32020)):
        fields = [(spelt(field), value) for field, value in mirrored(one, Mcp_Name=name)]
        async with await served.connect() as line:
            done = await exchange(line, json.dumps(one).encode(), fields)
        assert done.last.get("error", {}).get("code") == code


@pytest.mark.requirement("SESS-01")
async def test_ids_of_sessions_do_not_repeat(served: Served) -> None:
    """Nor does any part of them: whoever has one knows nothing of the next."""
    ids = []
    for _ in range(50):
        session = Session(served)
        await session.open()
        ids.append(session.id)
    assert len({len(one) for one in ids}) == 1
    for start in range(0, len(ids[0]) - 8, 4):
        assert len({one[start : start + 8] for one in ids}) == len(ids)
