"""Writes or checks `requirements-dev.txt`, the exported form of `uv.lock` for installing without uv.

`make lock` writes it, `make check` compares it. Names, versions and hashes are compared with the lock, which requires
the standard library only. If uv is available, the lock is compared with the projects and the file with a new export.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from typing import Any

from tools.install import REQUIREMENTS, ROOT, TOOLS, find_uv, usable_uv

HEADER = "# Made by `make lock` from uv.lock; do not edit. Installing without uv uses it.\n"
EXPORT = ["export", "--quiet", "--frozen", "--all-packages", "--no-emit-workspace", "--no-annotate", "--no-header"]

Pins = dict[tuple[str, str], frozenset[str]]


def neutral() -> dict[str, str]:
    """Return an environment in which uv reads no configuration of this machine: the lock must not name its mirrors."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UV_") or name == "UV_CACHE_DIR"}
    return kept | {"UV_NO_CONFIG": "1"}


def exported(uv: str) -> str:
    """Return the content of the file, as uv exports it."""
    answer = subprocess.run([uv, *EXPORT], cwd=ROOT, env=neutral(), capture_output=True, text=True, check=True)
    return HEADER + answer.stdout


def pins_of_lock(text: str) -> Pins:
    """Return the hashes of every package that the lock takes from an index, by name and version."""
    packages: list[dict[str, Any]] = tomllib.loads(text)["package"]
    return {
        (package["name"], package["version"]): frozenset(
            file["hash"] for file in [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        )
        for package in packages
        if "registry" in package["source"]
    }


def pins_of_requirements(text: str) -> Pins:
    """Return the hashes of every line of a requirements file, by name and version."""
    logical = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    pins: Pins = {}
    for line in logical:
        match = re.match(r"([a-z0-9-]+)==([^\s;]+)", line)
        if not match:
            raise SystemExit(f"{REQUIREMENTS.name}: not a pinned requirement: {line}")
        pins[match[1], match[2]] = frozenset(re.findall(r"--hash=(\S+)", line))
    return pins


def differences(lock: Pins, requirements: Pins) -> list[str]:
    """Return one line for each requirement that differs."""
    unequal = [key for key in lock.keys() | requirements.keys() if lock.get(key) != requirements.get(key)]
    return [f"{name}=={version}" for name, version in sorted(unequal)]


def check() -> list[str]:
    """Return the problems of the lock and the file as lines of text."""
    text = REQUIREMENTS.read_text() if REQUIREMENTS.exists() else ""
    wrong = differences(pins_of_lock((ROOT / "uv.lock").read_text()), pins_of_requirements(text))
    problems = [f"{REQUIREMENTS.name} and uv.lock differ in {line}" for line in wrong]
    uv = usable_uv("uv") or usable_uv(TOOLS / "bin" / "uv")
    if uv and subprocess.run([uv, "lock", "--check", "--quiet"], cwd=ROOT, env=neutral(), check=False).returncode:
        problems.append("uv.lock is not what the pyproject.toml files ask for")
    elif uv and not wrong and exported(uv) != text:
        problems.append(f"{REQUIREMENTS.name} is not what uv exports from uv.lock")
    return problems


def write() -> None:
    """Write the lock and the file."""
    uv = find_uv("auto")
    if not uv:
        raise SystemExit("make lock: this needs uv")
    subprocess.run([uv, "lock"], cwd=ROOT, env=neutral(), check=True)
    REQUIREMENTS.write_text(exported(uv))


def main() -> None:
    """Write the file, or compare it with --check."""
    parser = argparse.ArgumentParser(description="Export uv.lock to requirements-dev.txt.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when they differ")
    if not parser.parse_args().check:
        write()
        return
    problems = check()
    if problems:
        sys.exit("\n".join([*problems, "mend it with: make lock"]))


if __name__ == "__main__":
    main()
