"""npm packages for tests that run on Node.js."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from tools.install import ROOT

fcntl = pytest.importorskip("fcntl", reason="locks of files need POSIX")


def node() -> str:
    """Return the interpreter."""
    path = shutil.which("node")
    assert path, "node is not on the path: install Node.js with npm"
    return path


def package_folder(package: str, version: str) -> Path:
    """Return a folder in which scripts find a package. The first caller installs it; others wait."""
    npm = shutil.which("npm")
    assert npm, f"npm is not on the path: {package} is an npm package; install Node.js with npm"
    place = ROOT / ".cache" / package.rpartition("/")[2]
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = place / f".complete-{package.replace('/', '-')}-{version}"
        if not complete.exists():
            (place / "package.json").write_text('{"private": true, "type": "module"}\n', "utf-8")
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            command = [npm, "install", "--prefix", str(place), *options, f"{package}@{version}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"npm cannot install {package}:\n{done.stdout}{done.stderr}"
            complete.touch()
    return place


def installed(script: Path, package: str, version: str) -> Path:
    """Copy a script into the folder of a package. Other tests may run the copy."""
    folder = package_folder(package, version)
    with NamedTemporaryFile(dir=folder, delete=False) as copy:
        copy.write(script.read_bytes())
    return Path(copy.name).replace(folder / script.name)
