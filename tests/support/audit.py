"""The sample `acme_audit` as a distribution that hosts under test find."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.support.distributions import make_distribution

_FOLDER = Path(__file__).parent.parent / "samples" / "acme_audit"


def make_audit_site(site: Path) -> Path:
    """Put the sample into a folder."""
    project = tomllib.loads((_FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    files = {str(path.relative_to(_FOLDER)): path.read_text("utf-8") for path in _FOLDER.rglob("*.py")}
    make_distribution(site, project["name"], project["version"], project["entry-points"], files)
    return site
