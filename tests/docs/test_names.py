"""Every Python name that the documentation or a docstring mentions exists, and the code in the docs is typed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

from tools.install import ROOT

PACKAGE = "pegboard(?:_client|_messages|_plugins|_testing)?"
MENTIONED = re.compile(rf"`({PACKAGE}(?:\.\w+)+)[`(\[]")
IMPORTED = re.compile(rf"from ({PACKAGE}(?:\.\w+)*) import ([\w, ]+|\([^)]*\))")
NO_PYTHON = {
    *("pegboard.access", "pegboard.audit", "pegboard.client", "pegboard.plugins.http"),  # loggers
    *("pegboard.commands", "pegboard.plugins", "pegboard.toolkits"),  # entry point groups
    *("pegboard.lock", "pegboard.socket", "pegboard.service"),  # files
    "pegboard.sessions",  # a metric
}
TEXTS = [
    *(path for pattern in ("*.md", "docs/**/*.md") for path in ROOT.glob(pattern)),
    *(path for folder in ("docs", "host", "plugins", "toolkits") for path in ROOT.glob(f"{folder}/**/*.py")),
]


def exists(name: str) -> bool:
    try:
        resolve_name(name)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


def test_every_mentioned_name_exists() -> None:
    names: dict[str, str] = {}
    for path in TEXTS:
        text, place = path.read_text("utf-8"), str(path.relative_to(ROOT))
        names |= dict.fromkeys(MENTIONED.findall(text), place)
        for module, listed in IMPORTED.findall(text):
            listed = re.sub(r" as \w+|#.*", "", listed)
            names |= {f"{module}.{name}": place for name in re.findall(r"\w+", listed)}
    assert len(names) > 500
    assert {name: place for name, place in names.items() if name not in NO_PYTHON and not exists(name)} == {}


BLOCK = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.M | re.S)


def test_the_code_in_the_docs_is_typed(tmp_path: Path) -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for name, text in BLOCK.findall(page.read_text("utf-8")):
            file = tmp_path / name.removeprefix("src/")
            if not file.name.startswith("test_"):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
    settings = "[mypy]\nstrict = true\nexplicit_package_bases = true\n[mypy-mcp.*]\nignore_missing_imports = true\n"
    (tmp_path / "mypy.ini").write_text(settings, "utf-8")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
