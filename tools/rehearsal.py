"""Rehearses a release: `make rehearsal`. Nothing leaves this machine, and the checkout does not change.

It runs `make release` in a clone, with a build in the place of all tests, and checks the tag as the workflow does. Then
it uploads the distributions to a local index, and installs them from there into an empty environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.install import ROOT
from tools.local_index import serving
from tools.release import UNKNOWN_OWNER

VERSION = "99.0.0"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command without the variables of `make` and of other environments. Return its output.

    Raises:
        SystemExit: it failed. Its errors are on standard error.
    """
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV", "PEGBOARD_VENV")
    env = {name: value for name, value in os.environ.items() if name not in outer}
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"make rehearsal: this failed: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def released(place: Path) -> Path:
    """Make a release in a clone. Return the folder of its distributions."""
    clone = place / "clone"
    run("git", "clone", "--quiet", ROOT, clone, cwd=place)
    for key in ("user.name", "user.email"):
        run("git", "config", key, "rehearsal", cwd=clone)
    for name in ("server.json", "README.md"):
        text = (clone / name).read_text("utf-8")
        (clone / name).write_text(text.replace(f"io.github.{UNKNOWN_OWNER}/", "io.github.rehearsal/"), "utf-8")
    run("git", "commit", "--quiet", "--allow-empty", "--all", "--message", "Name the owner", cwd=clone)
    run("make", f"PYTHON={sys.executable}", "release", f"VERSION={VERSION}", "CHECKS=build", cwd=clone)
    tag = run("git", "describe", "--exact-match", cwd=clone).strip()
    run(sys.executable, "-m", "tools.release", "--check", tag, cwd=clone)
    return clone / "dist"


def main() -> None:
    """Rehearse the release. Exit with 1 at the first step that fails."""
    with TemporaryDirectory(prefix="pegboard-rehearsal-") as folder:
        place = Path(folder)
        dist = released(place)
        (place / "index").mkdir()
        with serving(place / "index") as url:
            login = ("--username", "any", "--password", "any", "--repository-url", url)
            run(sys.executable, "-m", "twine", "upload", "--disable-progress-bar", *login, *dist.iterdir(), cwd=place)
            run(sys.executable, "-m", "venv", place / "env", cwd=place)
            bin_folder = place / "env" / "bin"
            names = [f"{name}=={VERSION}" for name in ("pegboard", "toolkit-files", "toolkit-github", "toolkit-math")]
            run(bin_folder / "python", "-m", "pip", "install", "--quiet", "--index-url", url, *names, cwd=place)
        shown = run(bin_folder / "pegboard", "--version", cwd=place).strip()
        if shown != f"pegboard {VERSION}":
            raise SystemExit(f"make rehearsal: the installed version is {shown}, not {VERSION}")
        print(f"make rehearsal: {len([*dist.iterdir()])} files were uploaded, and {shown} is installed from them")


if __name__ == "__main__":
    main()
