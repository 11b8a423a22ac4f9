"""Definitions and results are those of the original framework, which `make toolkits` has captured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.plugins.protocols.worker.conftest import Engine, token
from tests.plugins.toolkit_sources.arcade_toolkits.conftest import Place
from tools.arcade_toolkits.calls import SECRETS
from tools.arcade_toolkits.compare import definition_differences, output_differences
from tools.install import ROOT

pytestmark = [pytest.mark.needs("compat", "worker", "http"), pytest.mark.asyncio(loop_scope="session")]


def captured(name: str) -> list[tuple[str, Any]]:
    rows = json.loads((ROOT / "tools" / "arcade_toolkits" / "captures" / f"{name}.json").read_text("utf-8"))
    return [(key, value) for key, value in rows]


async def test_definitions_are_equal(shared: Place) -> None:
    listed = (await Engine(shared.served, f"Bearer {token()}").ask("GET", "tools")).body
    ours = {tool["fully_qualified_name"]: tool for tool in listed}
    originals = dict(captured("definitions"))
    for name, tool in originals.items():
        assert definition_differences(tool, ours.get(name)) == [], name
    assert {name.partition(".")[0] for name in originals} == {"Ledger", "Sums", "Tides"}


@pytest.mark.parametrize(("called", "original"), captured("outputs"), ids=lambda value: str(value)[:60])
async def test_outputs_are_equal(shared: Place, called: str, original: dict[str, Any]) -> None:
    name, _, inputs = called.partition(" ")
    toolkit, _, tool = name.partition(".")
    address = shared.ledger.origin if tool == "FetchEntry" else SECRETS["LEDGER_URL"]
    secrets = [{"key": key, "value": value} for key, value in ({**SECRETS, "LEDGER_URL": address}).items()]
    given = {"token": "of-the-engine"}
    output = await shared.over_worker(tool, json.loads(inputs), toolkit=toolkit, authorization=given, secrets=secrets)
    assert output_differences(original, output) == []
