"""Makes or updates the development environment `.venv`; `make install` calls it.

It uses the standard library only, and any Python that pegboard supports. It tries, in this order:

1. uv, if a new version is on the path or is given with `--uv PATH`;
2. uv, fetched from the package index into `.venv-tools`, a folder beside `.venv`;
3. pip, from `requirements-dev.txt`, which is exported from `uv.lock`. `--uv ""` requests this one. It works behind a
   mirror of the index that only pip is configured for.

Each way installs the versions of the lock, and pegboard and every toolkit in place (editable), and compiles byte code.
Other packages in `.venv` stay.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / os.environ.get("PEGBOARD_VENV", ".venv")
TOOLS = ROOT / ".venv-tools"
STAMP = VENV / "pegboard-installed"
REQUIREMENTS = ROOT / "requirements-dev.txt"
PYTHON_MINIMUM = (3, 11)
UV_MINIMUM = (0, 8)
UV_REQUIREMENT = "uv==0.13.8"


class Failed(Exception):
    """A step of the installation failed. Its own messages are on standard error."""


def run(*command: str | Path, quiet: bool = False) -> bool:
    """Run a command in the checkout. Return True if it succeeded."""
    output = subprocess.DEVNULL if quiet else None
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": str(VENV), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment.pop("VIRTUAL_ENV", None)  # do not change another active environment
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False)
    except OSError:
        return False
    return done.returncode == 0


def must(*command: str | Path) -> None:
    """Run a command in the checkout. Raise Failed if it fails."""
    if not run(*command):
        raise Failed(f"make install: this failed: {' '.join(map(str, command))}")


def usable_uv(path: str | Path | None) -> str | None:
    """Return the path if it is a uv that runs and is new enough, None otherwise."""
    if not path:
        return None
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = re.match(r"uv (\d+)\.(\d+)", answer.stdout)
    return str(path) if match and (int(match[1]), int(match[2])) >= UV_MINIMUM else None


def find_uv(wanted: str) -> str | None:
    """Return a usable uv: the requested one, the one on the path, or one fetched from the package index."""
    if wanted != "auto":
        return usable_uv(wanted)
    private = TOOLS / "bin" / "uv"
    present = usable_uv(shutil.which("uv")) or usable_uv(private)
    if present:
        return present
    print("make install: uv is not installed; fetching it from the package index into .venv-tools", flush=True)
    if find_spec("pip"):
        made = run(sys.executable, "-m", "pip", "install", "--quiet", "--target", TOOLS, UV_REQUIREMENT)
    else:
        made = run(sys.executable, "-m", "venv", TOOLS) and run(
            private.with_name("pip"), "install", "--quiet", UV_REQUIREMENT
        )
    return usable_uv(private) if made else None


def python() -> Path:
    """Return the interpreter of the environment."""
    return VENV / "bin" / "python"


def works() -> bool:
    """Return True if `.venv` has an interpreter that runs and is new enough."""
    return run(python(), "-c", f"import sys; sys.exit(sys.version_info < {PYTHON_MINIMUM})", quiet=True)


def installed_with_uv(uv: str) -> bool:
    """Install the lock into `.venv` with uv. Print a line and return False if that failed."""
    try:
        install_with_uv(uv)
    except Failed as error:
        print(error, file=sys.stderr, flush=True)
        return False
    return True


def install_with_uv(uv: str) -> None:
    """Install the lock into `.venv` with uv.

    The locked packages are installed first, then our distributions: the build backend is a locked package.
    """
    if not works():
        must(uv, "venv", "--quiet", "--seed", "--clear", "--python", sys.executable, VENV)
    elif not run(python(), "-c", "import pip", quiet=True):
        must(uv, "pip", "install", "--quiet", "--python", python(), "pip")
    sync = [uv, "sync", "--quiet", "--frozen", "--inexact", "--all-packages"]
    must(*sync, "--no-install-workspace")
    must(*sync, "--no-build-isolation", "--compile-bytecode")


def install_with_pip() -> None:
    """Install the exported requirements into `.venv` with venv and pip of the standard library."""
    if not works():
        must(sys.executable, "-m", "venv", "--clear", VENV)
    elif not run(python(), "-c", "import pip", quiet=True):
        must(python(), "-m", "ensurepip")
    if STAMP.exists() and STAMP.read_text() == fingerprint():
        print("make install: .venv has the versions of the lock; next: make serve, or make quick", flush=True)
        return
    pip: list[str | Path] = [python(), "-m", "pip", "install", "--quiet"]
    must(*pip, "--require-hashes", "--requirement", REQUIREMENTS)
    editables = [part for folder in distributions() for part in ("--editable", str(folder))]
    must(*pip, "--no-index", "--no-deps", "--no-build-isolation", *editables)
    STAMP.write_text(fingerprint())


def distributions() -> list[Path]:
    """Return the folder of every distribution in the checkout: the root, then the toolkits."""
    return [ROOT, *sorted(path.parent for path in ROOT.glob("toolkits/*/pyproject.toml"))]


def fingerprint() -> str:
    """Return a digest of everything that decides which packages pip would install."""
    digest = hashlib.sha256(str(VENV).encode())
    for path in [REQUIREMENTS, *(folder / "pyproject.toml" for folder in distributions())]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compile_sources() -> None:
    """Compile the sources that run from the checkout. The installers compile the rest."""
    sources = [ROOT / "host", ROOT / "plugins", *(folder / "src" for folder in distributions()[1:])]
    run(python(), "-m", "compileall", "-q", *sources)


def main() -> None:
    """Choose the installer and run it."""
    parser = argparse.ArgumentParser(description="Make or renew the development environment .venv.")
    parser.add_argument("--uv", default="auto", metavar="PATH", help="the uv to use; empty for pip")
    arguments = parser.parse_args()
    if sys.version_info < PYTHON_MINIMUM:
        raise SystemExit("make install: pegboard needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")
    uv = find_uv(arguments.uv)
    try:
        if not (uv and installed_with_uv(uv)):
            print("make install: pip installs from requirements-dev.txt", flush=True)
            install_with_pip()
    except Failed as error:
        raise SystemExit(str(error)) from None
    compile_sources()


if __name__ == "__main__":
    main()
