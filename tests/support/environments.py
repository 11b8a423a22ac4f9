"""Wheels and virtual environments for tests of installed distributions.

They lie under `.cache/tests` in the checkout, named after a digest of all inputs. The workers of a run and later runs
share them, and they are never outdated. An entry that no process uses is removed when a newer one of its kind is made.

    env = make_environment("files", "toolkit-files", wheels=built_wheels())      # shared: do not change it
    env = make_environment(tmp_path / "env", "pegboard", wheels=built_wheels())  # own: install, uninstall
    subprocess.run([executable(env, "pegboard"), "list"], cwd=tmp_path)          # away from the checkout
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from tools.install import REQUIREMENTS, ROOT, TOOLS, distributions, usable_uv

fcntl = pytest.importorskip("fcntl", reason="locks of files need POSIX")
CACHE = ROOT / ".cache" / "tests"
ROOT_SOURCES = ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "host", "plugins")
NOT_SOURCES = ("__pycache__", ".git", ".venv*", ".cache", "dist", "build", ".*_cache", ".hypothesis")

_in_use: list[int] = []  # descriptors whose locks keep entries of the cache from being removed, until this process ends


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command and return its standard output. Raise AssertionError, with both outputs, if it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        shown = " ".join(map(str, command))
        raise AssertionError(f"exit {done.returncode}: {shown}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@cache
def uv() -> str | None:
    """Return the uv on the path, or the uv that `make install` fetched."""
    return usable_uv(shutil.which("uv")) or usable_uv(TOOLS / "bin" / "uv")


def executable(environment: Path, name: str = "python") -> Path:
    """Return a command of an environment."""
    return environment / "bin" / name


def site_packages(environment: Path) -> Path:
    """Return the folder of an environment's distributions."""
    return Path(run(executable(environment), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def copy_checkout(target: Path) -> Path:
    """Copy the files of the checkout, without environments, caches and build results."""
    return Path(shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCES)))


# Wheels


def built_wheels(*sources: Path) -> Path:
    """Return a folder with the wheels of pegboard, of every toolkit, and of further distributions by their folders."""
    wheels = [_wheel_of(source) for source in [*distributions(), *sources]]
    return _cached("wheels", _digest(wheels), lambda place: [shutil.copy2(wheel, place) for wheel in wheels])


def _wheel_of(source: Path) -> Path:
    """Return the wheel of a distribution's folder, built once for each state of its files."""
    parts = [source / name for name in ROOT_SOURCES] if source == ROOT else [source]
    place = _cached(f"wheel-{source.name}", _digest(parts), lambda place: build(source, place))
    return next(place.glob("*.whl"))


def build(source: Path, into: Path, target: str = "wheel") -> Path:
    """Build a distribution's wheel (or `target="sdist"`) with hatchling into a folder. Return the file."""
    into.mkdir(parents=True, exist_ok=True)
    before = set(into.iterdir())
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into, cwd=source)
    (built,) = set(into.iterdir()) - before
    return built


# Environments


def make_environment(name: Path | str, *requirements: str, wheels: Path | None = None, compiled: bool = True) -> Path:
    """Return the folder of a virtual environment with the requirements.

    With a name, the environment is shared and lies in the cache: read it, do not change it. With a path, it is made
    there for the caller alone. A distribution in the folder `wheels` is always taken from there. Others come from the
    package index, in the version of `uv.lock`. `compiled=False` leaves out byte code.
    """
    if isinstance(name, Path):
        _make(name, requirements, wheels, compiled)
        return name
    parts = [sys.version, sys.base_prefix, str(uv()), *requirements, *_locked_versions(), _digest(_files_of(wheels))]
    return _cached(
        f"env-{name}-py{sys.version_info.major}.{sys.version_info.minor}",
        hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16],
        lambda place: _make(place, requirements, wheels, compiled),
    )


def install(environment: Path, *requirements: str, wheels: Path | None = None, compiled: bool = True) -> None:
    """Install into an own environment; `wheels` and `compiled` as in make_environment."""
    own = {re.sub("[-_.]+", "-", file.name.split("-")[0]).lower(): file for file in _files_of(wheels)}
    pins = [f"{name} @ {file.resolve().as_uri()}" for name, file in own.items()]
    pins += [pin for pin in _locked_versions() if pin.split("==")[0] not in own]
    constraints = environment / "constraints.txt"
    constraints.write_text("\n".join(pins))
    run(*_installer(environment, "install", compiled), "--constraint", constraints, *requirements, cwd=environment)


def uninstall(environment: Path, *names: str) -> None:
    """Remove distributions from an own environment."""
    run(*_installer(environment, "uninstall"), *names, cwd=environment)


def _make(place: Path, requirements: Iterable[str], wheels: Path | None, compiled: bool) -> None:
    if present := uv():
        run(present, "venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, place)
    else:
        run(sys.executable, "-m", "venv", "--clear", "--without-pip", place)
    install(place, *requirements, wheels=wheels, compiled=compiled)


def _installer(environment: Path, action: str, compiled: bool = True) -> list[str | Path]:
    present, python = uv(), executable(environment)
    if present:
        options = ["--compile-bytecode"] if action == "install" and compiled else []
        return [present, "pip", action, "--quiet", "--python", python, *options]
    options = ["--yes"] if action == "uninstall" else [] if compiled else ["--no-compile"]
    return [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", action, "--quiet", *options]


def _locked_versions() -> list[str]:
    """Return `name==version`, with its marker, for each third-party distribution of the development environment."""
    return re.findall(r"^([a-z0-9][^\\\n]*?)\s*\\?$", REQUIREMENTS.read_text(), flags=re.MULTILINE)


def _files_of(wheels: Path | None) -> list[Path]:
    return sorted(wheels.glob("*.whl")) if wheels else []


# The cache


def _cached(family: str, digest: str, make: Callable[[Path], object]) -> Path:
    """Return the entry of a family and digest, made now unless it exists; kept at least until this process ends.

    A process holds the family's lock while it changes entries. Each process that uses an entry holds a shared lock on
    its folder, and only a folder without a lock is removed.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    place = CACHE / f"{family}-{digest}"
    with (CACHE / f"{family}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".complete").exists():
            _remove_unused(family)
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            make(place)
            (place / ".complete").touch()
        _use(place)
    return place


@cache
def _use(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    _in_use.append(descriptor)


def _remove_unused(family: str) -> None:
    for place in CACHE.glob(f"{family}-{'[0-9a-f]' * 16}"):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)


def _digest(parts: Iterable[Path]) -> str:
    """Return a digest of the names and contents of files, and of all files below folders."""
    digest = hashlib.sha256()
    for part in parts:
        ignored = shutil.ignore_patterns(*NOT_SOURCES)
        for file in _files(part, ignored):
            digest.update(f"{file.relative_to(part.parent)}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files(part: Path, ignored: Callable[[str, list[str]], set[str]]) -> list[Path]:
    if not part.is_dir():
        return [part]
    names = sorted(os.listdir(part))
    skipped = ignored(str(part), names)
    return [file for name in names if name not in skipped for file in _files(part / name, ignored)]
