"""A server imports pydantic only if a setting or a tool needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wire import client_environment, naming_config

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LAZY = "[toolkits.math]\n[plugins.lock]\nlazy = true\n"


def pegboard(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-v", "-m", "pegboard", *arguments], cwd=folder, input=given, capture_output=True, text=True,
        timeout=60, check=True, env=client_environment(folder.parent, naming_config(folder)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sections", "tools", "is_imported"),
    [
        pytest.param("", 0, False, id="no-toolkit"),
        pytest.param("[toolkits.files]\nroots = ['.']\nmax_entries = 5\n", 7, False, id="plain-settings"),
        pytest.param("[toolkits.math]\n", 18, True, id="types-of-pydantic"),
        pytest.param(LAZY, 18, False, id="lazy"),
    ],
)
def test_a_server_imports_pydantic_on_need(sections: str, tools: int, is_imported: bool, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "hostconfig.toml").write_text(f"[host]\nautoload = false\n{sections}", encoding="utf-8")
    if sections == LAZY:
        pegboard(folder, "lock")
    done = pegboard(folder, "stdio", given=json.dumps(LIST | {"params": {"_meta": META}}) + "\n")
    assert len(json.loads(done.stdout)["result"]["tools"]) == tools
    assert ("import 'pydantic' #" in done.stderr) is is_imported
