"""Prepares a release: `make release VERSION=0.2.0`. CONTRIBUTING.md describes the steps.

It sets the version in distributions, pages and `server.json` and the date in the changelog, and runs the targets of
`CHECKS`: all tests, and installations from a local index. Then it commits and tags. It uploads nothing. The workflow
that publishes runs `python -m tools.release --check TAG` first. `make rehearsal` does all this in a clone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.install import ROOT, python

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
UNKNOWN_OWNER = "OWNER"
"""It is in the place of the account until the names are reserved."""
_UNRELEASED = re.compile(r"^## .* \(unreleased\)$", re.M)


def edited(root: Path, version: str, day: str) -> Iterator[tuple[Path, str]]:
    """Yield each file with the version, and its new text.

    Raises:
        SystemExit: the version is invalid, or the changelog has no unreleased section.
    """
    parts = _VERSION.fullmatch(version)
    if not parts:
        raise SystemExit(f"make release: VERSION={version!r} is invalid; write three numbers: VERSION=0.2.0")
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    if not _UNRELEASED.search(text):
        raise SystemExit("make release: CHANGELOG.md has no section `## VERSION (unreleased)`; write one")
    yield changelog, _UNRELEASED.sub(f"## {version} ({day})", text, count=1)
    before = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    tutorial = root / "docs" / "tutorial.md"
    yield tutorial, tutorial.read_text("utf-8").replace(f"pegboard {before}", f"pegboard {version}")
    major, minor = int(parts[1]), int(parts[2])
    above = f"{major + 1}" if major else f"0.{minor + 1}"
    server = root / "server.json"
    yield (
        server,
        server.read_text("utf-8").replace(f'"{before}"', f'"{version}"').replace(f"=={before}", f"=={version}"),
    )
    if version != before:
        site = root / "tools" / "site" / "static" / "versions.js"
        yield site, site.read_text("utf-8").replace("= [", f'= ["{version}", ', 1)
    for project in (root / "pyproject.toml", *sorted(root.glob("toolkits/*/pyproject.toml"))):
        text = re.sub(r'^version = ".*"$', f'version = "{version}"', project.read_text("utf-8"), count=1, flags=re.M)
        yield project, re.sub(r"\bpegboard>=[\d.]+,<[\d.]+", f"pegboard>={major}.{minor},<{above}", text)


def check_tag(root: Path, tag: str) -> None:
    """Check that a tag is that of the version of all distributions, and that the registry can name the server.

    Raises:
        SystemExit: a distribution has another version, or the name of the server has no owner.
    """
    if UNKNOWN_OWNER in json.loads((root / "server.json").read_text("utf-8"))["name"]:
        raise SystemExit(f"release: server.json has no owner: replace {UNKNOWN_OWNER} there and in README.md")
    for project in (root / "pyproject.toml", *sorted(root.glob("toolkits/*/pyproject.toml"))):
        metadata = tomllib.loads(project.read_text("utf-8"))["project"]
        if tag != f"v{metadata['version']}":
            name, version = metadata["name"], metadata["version"]
            raise SystemExit(f"release: the tag is {tag}, but {name} has the version {version}: tag v{version}")


def run(*command: str) -> str:
    """Run a command in the checkout and return its output. Exit if it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"make release: this failed: {' '.join(command)}")
    return done.stdout


def main(version: str, targets: Sequence[str]) -> None:
    """Prepare a release, with the targets of make that check it."""
    if run("git", "status", "--porcelain"):
        raise SystemExit("make release: the checkout has uncommitted changes; commit them first")
    for path, text in [*edited(ROOT, version, datetime.now(UTC).date().isoformat())]:
        path.write_text(text, "utf-8")
    for target in ("lock", "install"):
        run("make", target)
    run(str(python()), "-m", "tools.screenshots")
    for target in targets:
        run("make", target)
    run("git", "commit", "--all", "--message", f"Release {version}")
    run("git", "tag", "--annotate", f"v{version}", "--message", f"Release {version}")
    print(f"next: git push origin HEAD v{version}, then .venv/bin/twine upload dist/*")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check_tag(ROOT, sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2:])
