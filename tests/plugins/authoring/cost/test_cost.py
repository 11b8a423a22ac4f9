"""`pegboard cost`."""

from __future__ import annotations

import pytest

from tests.support.command_line import Command


@pytest.mark.parametrize(("budget", "code"), [(100_000, 0), (100, 1)])
def test_the_cost_is_compared_with_the_budget(budget: int, code: int, pegboard: Command) -> None:
    done = pegboard("cost", "--budget", str(budget))
    assert done.code == code
    report = pegboard("cost", "--budget", str(budget), "--json").data
    assert report["ok"] is (code == 0)
    assert report["tokens"] == sum(tool["tokens"] for tool in report["tools"]) == report["toolkits"]["demo"]
    assert done.out.splitlines()[-1].split() == ["total", str(report["tokens"])]
    largest = report["tools"][0]
    warned = f"  {largest['name']} ({largest['tokens']}): {largest['longest_part']}"
    assert (warned in done.err) is (code == 1)
    assert largest["tokens"] >= report["tools"][1]["tokens"]
