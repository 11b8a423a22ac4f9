"""Servers of the package index, and the environments in which they and their changed copies run."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple

from tools.comparison.environments import python_environment
from tools.foreign_servers.compare import differences, without_docstrings
from tools.foreign_servers.probe import NoServer, probe
from tools.foreign_servers.rewrite import changed
from tools.foreign_servers.sources import CACHE
from tools.install import ROOT

SECONDS = 240
_PLACE = CACHE / "published"
_LINE = re.compile(r"File [^,\n]*, line \d+")
"""A line of a traceback. The copy has other files and lines."""
_LAUNCH = Path(__file__).with_name("launch.py")


class Published(NamedTuple):
    """A server of the package index.

    Attributes:
        name: the distribution.
        version: its version.
        arguments: the arguments of its command.
        variables: the environment variables that it needs to start. Their values are made up.
        requirements: further requirements, where those of the distribution no longer fit together.
    """

    name: str
    version: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    requirements: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The name of the server in the table."""
        return f"{self.name}=={self.version}"

    @property
    def place(self) -> Path:
        """The folder with its environment and its changed copy."""
        return _PLACE / f"{self.name}-{self.version}"

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return self.place / "venv" / "bin" / "python"

    @property
    def changed_place(self) -> Path:
        """The folder of the copy with changed imports."""
        return self.place / "changed"

    def prepare(self, overrides: Path | None) -> None:
        """Install the server and pegboard, unless an earlier run has, and change a copy of the server.

        Raises:
            InstallFailed: the server cannot be installed.
        """
        python_environment(self.place / "venv", (self.path, *self.requirements, "-e", ROOT), overrides)
        shutil.rmtree(self.changed_place, ignore_errors=True)
        for file, place in _files(self):
            target = self.changed_place / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, target)
            if target.suffix == ".py":
                with suppress(SyntaxError, UnicodeDecodeError):
                    target.write_text(changed(target.read_text("utf-8")), "utf-8")

    async def explore(self, form: str) -> dict[str, Any]:
        """Run the server, "original" or "changed", in an empty folder, and return what it answers.

        Raises:
            NoServer: the server did not start or died.
        """
        work = self._work_place()
        variables = {"PATH": os.defpath, "HOME": str(work), "PYTHONHASHSEED": "0", "LANG": "C.UTF-8", **self.variables}
        if form == "changed":
            variables["PYTHONPATH"] = str(self.changed_place)
        answers = await probe((self.python, _LAUNCH, self.name, form, *self.arguments), work, variables, SECONDS)
        plain: dict[str, Any] = json.loads(_LINE.sub("", json.dumps(answers)))
        return plain

    async def compare(self) -> tuple[str, list[str]]:
        """Return the verdict and the differences, without answers that differ between two runs of the original."""
        try:
            original = await self.explore("original")
        except NoServer as error:
            return "skipped", [str(error)]
        try:
            ours = await self.explore("changed")
        except NoServer as error:
            return "fails", [str(error)]
        if _has_old_fastmcp(self):
            original, ours = without_docstrings(original), without_docstrings(ours)
        if not list(differences(original, ours)):
            return "same", []
        again = await self.explore("original")
        again = without_docstrings(again) if _has_old_fastmcp(self) else again
        steady = {key for key in original if not list(differences({key: original[key]}, {key: again.get(key)}))}
        unsteady = original.keys() - steady
        lines = list(differences(*({k: v for k, v in run.items() if k not in unsteady} for run in (original, ours))))
        return "differs" if lines else "same", lines

    def _work_place(self) -> Path:
        """Return an empty folder in which it runs."""
        shutil.rmtree(self.place / "work", ignore_errors=True)
        (self.place / "work").mkdir()
        return self.place / "work"


def _installed(server: Published, name: str) -> list[Distribution]:
    [folder] = (server.place / "venv" / "lib").glob("python*/site-packages")
    return list(distributions(name=name, path=[str(folder)]))


def _has_old_fastmcp(server: Published) -> bool:
    """Return True if the environment has FastMCP before version 4, which leaves docstrings as they are."""
    return any(dist.version.partition(".")[0] in "23" for dist in _installed(server, "fastmcp"))


def _files(server: Published) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a distribution: their paths in its packages, and their places."""
    [distribution] = _installed(server, server.name)
    for file in distribution.files or ():
        if ".." not in file.parts and not file.parts[0].endswith(".dist-info") and "__pycache__" not in file.parts:
            yield Path(file), Path(str(file.locate()))


def servers() -> list[Published]:
    """Return the servers that are compared."""
    listed = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))
    return [Published(name, **fields) for name, fields in listed.items()]
