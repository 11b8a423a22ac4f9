"""What docs/testing.md shows is what happens: its tests run, and its messages are those that come."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pegboard_testing as testing
from pegboard_testing import PlainClient, TestClient, connect
from tests.docs.pages import Page

PAGE = Page("docs/testing.md")
MESSAGES = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=short"]
    without_async = ["-p", "no:asyncio", "-p", "no:anyio"]
    env = {name: value for name, value in os.environ.items() if name != "CI"}  # there pytest says things twice
    return subprocess.run(
        [*command, *without_async, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    ).stdout


def test_its_tests_pass_and_its_messages_are_printed(tmp_path: Path) -> None:
    project = PAGE.write(tmp_path)
    output = run(project, "--pegboard-update")
    assert re.search(r"\n=+ \d+ passed in", output), output
    assert len(list((project / "snapshots").iterdir())) == 2
    source = project / "toolkit_shop" / "__init__.py"
    changed = source.read_text().replace('tea or honey"]', 'tea, honey or gold"]')
    source.write_text(changed.replace('context.once("charge", bank.charge, ', "bank.charge("))
    output = run(project, "test_offer.py", "test_asking.py", "-k", "buying or offer")
    assert MESSAGES[1].strip() in output
    lines = [line.replace(f"{project}/", "").removeprefix("E").strip() for line in output.splitlines()]
    first, *others = [line.strip() for line in MESSAGES[0].splitlines()]
    expected = [first.replace("RepeatedEffects", "pegboard_testing.replay.RepeatedEffects", 1), *others]
    assert [line for line in lines if line in expected] == expected, output


def test_the_page_names_the_whole_public_api() -> None:
    words = {word for span in re.findall(r"`[^`\n]+`|import [\w, ]+", PAGE) for word in re.findall(r"\w+", span)}
    assert set(testing.__all__) - words == set()
    parameters = set(inspect.signature(connect.__init__).parameters) - {"self", "kits"}
    assert {name for name in parameters if not re.search(rf"`{name}=|, `{name}=", PAGE)} == set()
    for kind in (TestClient, PlainClient):
        names = {name for name in dir(kind) if not name.startswith("_")} - {"revision", "run", "answer", "asked"}
        assert {name for name in names if not re.search(rf"`{name}\b", PAGE)} == set()
    contracts = [name for name in testing.__all__ if name.endswith("Contract") and name != "Contract"]
    assert all(f"`{name}`" in PAGE.partition("| contract |")[2] for name in contracts)
