"""The environments of the contenders, with installed distributions and compiled byte code.

They are in `benchmarks/.cache`. The name of each has a digest of its sources and requirements, so a change makes a new
one. uv makes them if it is installed, otherwise venv and pip. pegboard and the floor use the versions in the lock of
the checkout. Other frameworks use the versions that they require, but the same version of pydantic.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = HERE / ".cache"

_SOURCES = ("pyproject.toml", "README.md", "LICENSE", "host", "plugins", "src")


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment.

    Attributes:
        folder: its folder.
        versions: the installed versions by distribution.
    """

    folder: Path
    versions: dict[str, str]

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.folder / "bin" / "python")

    def command(self, name: str) -> str:
        """Return the path of an installed command."""
        return str(self.folder / "bin" / name)


class Environments:
    """Makes environments and keeps them.

    Args:
        python: the interpreter of the environments.
        uv: the path of uv; None to use venv and pip.
        overrides: a requirements file whose versions replace those that a framework requires. It needs uv.
        checkout: the sources of pegboard and toolkit-files.
        cache: the folder of the environments.
    """

    def __init__(
        self,
        python: str = sys.executable,
        uv: str | None = None,
        overrides: Path | None = None,
        checkout: Path = ROOT,
        cache: Path = CACHE,
    ) -> None:
        self._python = python
        self._uv = uv
        self._overrides = overrides
        self._projects = (checkout, checkout / "toolkits" / "files", HERE / "toolkit")
        self._cache = cache
        self.version = _output(python, "-c", "import sys; print(sys.version.split()[0])").strip()
        cache.mkdir(parents=True, exist_ok=True)
        self._constraints = cache / "constraints.txt"
        lock = (ROOT / "requirements-dev.txt").read_text("utf-8")
        versions = re.findall(r"^[a-z0-9-]+==[^\s;]+", lock, re.MULTILINE)
        self._constraints.write_text("\n".join(versions), "utf-8")
        self._shared = cache / "shared-constraints.txt"
        self._shared.write_text("\n".join(pin for pin in versions if pin.startswith("pydantic")), "utf-8")

    def pegboard(self, toolkit: str, *more: str) -> Environment:
        """Return an environment with pegboard and a toolkit of the checkout, and with other distributions."""
        names = ("pegboard-", f"{toolkit.replace('-', '_')}-")
        wanted = [wheel for wheel in self._wheels if wheel.name.startswith(names)]
        return self._environment("+".join((toolkit, *more)), [*map(str, wanted), *more], wanted, self._constraints)

    def peer(self, *requirements: str) -> Environment:
        """Return an environment with these requirements from the package index."""
        name = "+".join(re.sub("[^a-z0-9]+", "-", requirement) for requirement in requirements)
        return self._environment(name, requirements, [], self._shared)

    def _environment(
        self, name: str, requirements: Sequence[str], files: Iterable[Path], constraints: Path
    ) -> Environment:
        key = _digest(files, self.version, *requirements, constraints.read_text("utf-8"))
        folder = self._cache / f"env-{name}-{key}"
        if not (folder / "complete").exists():
            self._remove(f"env-{name}-*")
            _say(f"making the environment {folder.name}")
            self._install(folder, requirements, constraints)
            (folder / "complete").touch()
        python = str(folder / "bin" / "python")
        listing = "import importlib.metadata as m; [print(d.name, d.version) for d in m.distributions()]"
        versions = dict(line.split() for line in _output(python, "-c", listing).splitlines())
        return Environment(folder, versions)

    def _install(self, folder: Path, requirements: Sequence[str], constraints: Path) -> None:
        limits = ["--constraint", str(constraints)]
        if self._uv:
            self._run(self._uv, "venv", "--quiet", "--python", self._python, str(folder))
            python = ("--python", str(folder))
            if self._overrides:
                limits += ["--override", str(self._overrides.resolve())]
            self._run(self._uv, "pip", "install", "--quiet", "--compile-bytecode", *python, *limits, *requirements)
        else:
            self._run(self._python, "-m", "venv", str(folder))
            pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
            self._run(*pip, "--compile", *limits, *requirements)

    def _run(self, *command: str) -> None:
        subprocess.run(command, cwd=self._cache, check=True, stdout=subprocess.DEVNULL)

    def _remove(self, pattern: str) -> None:
        for old in self._cache.glob(pattern):
            shutil.rmtree(old)

    @cached_property
    def _wheels(self) -> list[Path]:
        """The wheels of the checkout. They are built once for each run, so later changes have no effect on it."""
        sources = [path for project in self._projects for source in _SOURCES for path in _files(project / source)]
        folder = self._cache / f"wheels-{_digest(sources)}"
        if not folder.exists():
            self._remove("wheels-*")
            _say("building wheels of the checkout")
            made = folder.with_suffix(".part")
            for project in self._projects:
                if self._uv:
                    self._run(self._uv, "build", "--quiet", "--wheel", "--out-dir", str(made), str(project))
                else:
                    pip = (self._python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")
                    self._run(*pip, "--wheel-dir", str(made), str(project))
            made.rename(folder)
        return sorted(folder.glob("*.whl"))


def _files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def _digest(files: Iterable[Path], *texts: str) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _say(what: str) -> None:
    print(f"benchmarks: {what}", file=sys.stderr, flush=True)
