"""Installs the lowest versions that `[project] dependencies` allow into `.venv-lowest`; `make lowest` calls it.

The environment must have the versions of the lock. All other packages keep these versions.
"""

from __future__ import annotations

import re
import subprocess
import tomllib

from tools.install import ROOT

PYTHON = ROOT / ".venv-lowest" / "bin" / "python"


def lowest() -> list[str]:
    """Return each dependency of the distribution `pegboard` as a requirement of its lowest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.sub(r">=([^,;]+).*", r"==\1", dependency) for dependency in project["dependencies"]]


if __name__ == "__main__":
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *lowest()], cwd=ROOT, check=True)
