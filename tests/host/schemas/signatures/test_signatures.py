"""Each signature of the table does what `signatures.json` records."""

from __future__ import annotations

import json

import pytest

from tests.host.schemas.signatures.observed import RECORDED, cases, observe
from tests.host.schemas.signatures.table import Case

EXPECTED = json.loads(RECORDED.read_text("utf-8"))


@pytest.mark.filterwarnings("ignore:Item 'extra' on TypedDict class 'More' is using the `ReadOnly` qualifier")
@pytest.mark.requirement("TOOL-08", "TOOL-18")
@pytest.mark.parametrize(("name", "case"), cases().items(), ids=list(cases()))
async def test_signature(name: str, case: Case) -> None:
    assert await observe(case) == EXPECTED[name]
