"""hostconfig.toml of the checkout: a short example that works, which README and the reference agree with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli

from pegboard.config import HostConfig
from tests.docs.pages import Page, serving
from tools.install import ROOT

TEXT = (ROOT / "hostconfig.toml").read_text("utf-8")
REFERENCE, README = Page("docs/configuration.md"), Page("README.md")
MAX_LINES = 30


def keys(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the sections of a file, each with each of its keys; with "" for the section itself."""
    named = {f"{table}.{name}": tree[table][name] for table in ("toolkits", "plugins") for name in tree.get(table, {})}
    for section, values in {"host": tree.get("host", {}), **named}.items():
        yield section, ""
        yield from ((section, key) for key in values)


def documented(section: str, key: str) -> bool:
    part = REFERENCE.partition(f"\n## [{section}]\n")[2].partition("\n## ")[0]
    return bool(part) and (not key or re.search(rf"^- `{key}\b", part, re.M) is not None)


def test_the_example_is_short_and_its_keys_are_in_the_reference() -> None:
    assert len(TEXT.splitlines()) <= MAX_LINES
    config = HostConfig.load(ROOT / "hostconfig.toml", environ={}, directory=ROOT)
    assert (config.host.transports, config.host.middleware) == (("http",), ("timing",))
    assert len(config.host.disabled_tools) == 2
    assert set(config.toolkits) == {"files", "github"}
    assert set(config.plugins) == {"rate_limit"}
    transport, worker = re.findall(r"^# (\[plugins\..*)", TEXT, re.M)
    assert "transport" in transport
    assert all(documented(*key) for key in (*keys(tomli.loads(TEXT)), *keys(tomli.loads(worker))))


def test_the_files_of_the_readme_use_parts_of_the_example_and_keys_of_the_reference() -> None:
    example = tomli.loads(TEXT)
    used = {section for section, _ in keys(example)} | {f"plugins.{name}" for name in example["host"]["middleware"]}
    files = [tomli.loads(text) for name, text in README.files.items() if name.endswith(".toml")]
    shown = {key for tree in files for key in keys(tree)}
    assert {section for section, _ in shown} <= used
    assert all(documented(*key) for key in shown)


def test_make_serve_serves_the_example(tmp_path: Path) -> None:
    (line,) = re.findall(r"^serve:.*\n\t@\$\(BIN\)/pegboard (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert line == "serve --config hostconfig.toml"
    with serving(ROOT, *line.split()[1:], env={"PEGBOARD_STATE_DIR": str(tmp_path)}) as address:
        assert address.startswith("http://")
