"""npm packages for test scripts that run on Node.js."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path

from tools.install import ROOT


def node() -> str:
    """Return the interpreter."""
    found = shutil.which("node")
    assert found, "node is not on the path: install Node.js with npm"
    return found


def installed(script: Path, package: str, version: str) -> Path:
    """Copy a script into a folder where it finds a package, which npm has put there for the first who asks."""
    npm = shutil.which("npm")
    assert npm, f"npm is not on the path: {package} is an npm package; install Node.js with npm"
    place = ROOT / ".cache" / package.rpartition("/")[2]
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        manifest = place / "node_modules" / package / "package.json"
        if not manifest.exists() or json.loads(manifest.read_text("utf-8"))["version"] != version:
            (place / "package.json").write_text('{"private": true, "type": "module"}\n', "utf-8")
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            command = [npm, "install", "--prefix", str(place), *options, f"{package}@{version}"]
            subprocess.run(command, capture_output=True, check=True)
        return Path(shutil.copy(script, place))
