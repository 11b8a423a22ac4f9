"""Many unknown names in a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegboard import Host
from pegboard.loading.discovery import Selection
from pegboard.names import MAX_CORRECTED_NAMES
from tests.support.config import load

MANY = 3 * MAX_CORRECTED_NAMES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("".join(f"[unknown{n}]\n" for n in range(MANY)), id="sections"),
        pytest.param("".join(f"unknown{n} = 1\n" for n in range(MANY)), id="keys"),
        pytest.param("[host]\n" + "".join(f"unknown{n} = 1\n" for n in range(MANY)), id="host-keys"),
        pytest.param("[plugins.http]\n" + "".join(f"unknown{n} = 1\n" for n in range(MANY)), id="plugin-keys"),
        *(
            pytest.param("".join(f"[{table}.unknown{n}]\n" for n in range(MANY)), id=table)
            for table in ("plugins", "toolkits", "host.toolkits", "host.tools")
        ),
        *(
            pytest.param(f"[host]\n{key} = {[f'unknown{n}' for n in range(MANY)]}\n", id=f"host-{key}")
            for key in ("plugins", "required", "disabled_tools", "disabled_toolkits", "disabled_plugins")
        ),
    ],
)
def test_few_of_many_unknown_names_are_compared(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comparison takes a millisecond: 20,000 took 7 seconds and more. All names are reported."""
    compared: list[Any] = []
    for module in ("config.explain", "names"):  # the former imports the latter
        monkeypatch.setattr(f"pegboard.{module}.nearest", lambda *names: compared.append(names))
    host = Host(load(tmp_path, text, collect=True), selection=Selection(autoload=False))
    host.load()
    assert sum("unknown" in str(problem) for problem in (*host.config.problems, *host.problems)) == MANY
    assert len(compared) == MAX_CORRECTED_NAMES
