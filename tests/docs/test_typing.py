"""The code in the docs passes plain `mypy --strict`, without the plugin of pydantic. Its tests are not annotated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tools.install import ROOT

BLOCK = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.M | re.S)


def test_the_code_in_the_docs_is_typed(tmp_path: Path) -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for name, text in BLOCK.findall(page.read_text("utf-8")):
            file = tmp_path / name.removeprefix("src/")
            if not file.name.startswith("test_"):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\nexplicit_package_bases = true\n", "utf-8")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
