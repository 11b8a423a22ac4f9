"""The working directory of a published server: files, a repository, and a site."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILES: Final[Mapping[str, str]] = {
    "notes.md": "# Notes\n\nBuy 3 lemons.\n",
    "prices.csv": "fruit,price\nlemon,0.5\nmelon,3\n",
    "repository/kitchen.txt": "oven\n",
}
SITE: Final[Mapping[str, str]] = {
    "index.html": "<article><h1>Fruit</h1><p>Lemons are <a href='/sour'>sour</a>.</p></article>",
    "robots.txt": "User-agent: *\nDisallow: /secret\n",
    "secret.html": "<p>Nobody reads this.</p>",
}
GIT_VARIABLES: Final = {
    **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ada@example.com" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")},
}
"""The variables that give each commit the same id."""


def make_work_place(place: Path) -> None:
    """Make the directory, with the same content each time."""
    shutil.rmtree(place, ignore_errors=True)
    _write(place, FILES)
    repository = place / "repository"
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        ("commit", "--quiet", "--message=Start"),
        ("branch", "idea"),
    ):
        subprocess.run(("git", *command), cwd=repository, env={"PATH": "/usr/bin:/bin", **GIT_VARIABLES}, check=True)
    (repository / "kitchen.txt").write_text("oven\nsink\n", "utf-8")


def make_site(place: Path) -> None:
    """Make the folder of the site that servers fetch."""
    _write(place, SITE)


def _write(place: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, "utf-8")
