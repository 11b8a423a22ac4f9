"""The source distributions with example servers, and the environments in which the originals run."""

from __future__ import annotations

import ast
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools.comparison.environments import InstallFailed, python_environment
from tools.foreign_servers.rewrite import changed
from tools.install import ROOT

CACHE = ROOT / ".cache" / "foreign_servers"
PROGRAMS = Path(__file__).with_name("programs")
"""Servers that use what no example uses."""
SERVERS = ("FastMCP", "MCPServer", "MCPApp")


class Source(NamedTuple):
    """A framework.

    Attributes:
        name: the distribution.
        version: its version.
        sha256: the digest of its source distribution.
        folders: the folders with examples.
        framework: the requirement that the originals need; the distribution itself when None.
        are_packages: True if the examples are packages that the originals need installed.
    """

    name: str
    version: str
    sha256: str
    folders: tuple[str, ...]
    framework: str | None = None
    are_packages: bool = False

    @property
    def place(self) -> Path:
        """The folder of the unpacked source distribution."""
        return CACHE / f"{self.name}-{self.version}"

    @property
    def changed_place(self) -> Path:
        """The folder of the examples with changed imports."""
        return CACHE / f"changed-{self.name}-{self.version}"

    @property
    def environment(self) -> Path:
        """The folder of its virtual environment."""
        return CACHE / f"venv-{self.name}-{self.version}"

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return self.environment / "bin" / "python"


SOURCES = (
    Source(
        "mcp",
        "1.30.0",
        "445414625fce5c295faa505bb11bacece661ab6f4028d57c935db57820b7a3e4",
        ("examples/snippets/servers", "examples/fastmcp"),
    ),
    Source(
        "mcp",
        "2.3.0",
        "8b147a50441cf059dc88c684e0aeed3687f0aa0f39c6cde7b90330effd2b34d8",
        ("docs_src", "examples/mcpserver", "examples/snippets/servers"),
    ),
    Source(
        "fastmcp",
        "4.2.3",
        "0c9d1739d59e89506489bea589dec6193d204ab86e9739333d6bb46c13476477",
        ("examples", "programs"),
    ),
    Source(
        "arcade_mcp",
        "1.16.3",
        "32cbcbc906f06cead878b8aaacbbe586632fd8e5de20cbcf0654b9dc75d8d4e9",
        ("examples/mcp_servers", "libs/tests/cli/deploy/test_servers"),
        framework="arcade-mcp-server==1.32.1",
        are_packages=True,
    ),
)


def prepare(source: Source, overrides: Path | None = None) -> None:
    """Download a source distribution, install the framework in its own environment, and change the examples.

    Args:
        source: the framework.
        overrides: a requirements file whose versions replace those that the framework requires.

    Raises:
        InstallFailed: a step failed. The message names the fix.
    """
    if not source.place.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        wanted = CACHE / "requirement.txt"
        wanted.write_text(f"{source.name}=={source.version} --hash=sha256:{source.sha256}\n")
        pip = (ROOT / ".venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "download")
        options = ("--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", wanted, "-d", CACHE)
        if subprocess.run((*pip, *options), check=False).returncode:
            raise InstallFailed(f"pip cannot download {source.name} {source.version}")
        with tarfile.open(CACHE / f"{source.name}-{source.version}.tar.gz") as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer have filters
            archive.extractall(CACHE)  # noqa: S202 - its digest is known
    if "programs" in source.folders:
        shutil.copytree(PROGRAMS, source.place / "programs", dirs_exist_ok=True)
    framework = source.framework or f"{source.name}=={source.version}"
    python_environment(source.environment, [framework], overrides, _packages(source))
    shutil.rmtree(source.changed_place, ignore_errors=True)
    for folder in source.folders:
        shutil.copytree(source.place / folder, source.changed_place / folder)
    for file in source.changed_place.rglob("*.py"):
        with suppress(SyntaxError, UnicodeDecodeError):
            file.write_text(changed(file.read_text("utf-8")), "utf-8")


def _packages(source: Source) -> list[Path]:
    """Return the folders of examples that are packages. Of two distributions with one name, only the last is one."""
    files = sorted(file for folder in source.folders for file in (source.place / folder).rglob("pyproject.toml"))
    names = [tomllib.loads(file.read_text("utf-8"))["project"]["name"] for file in files]
    folders = dict(zip(names, (file.parent for file in files), strict=True))
    return list(folders.values()) if source.are_packages else []


def examples(source: Source) -> Iterator[Path]:
    """Return the files that make a server at their top level."""
    for folder in source.folders:
        for file in sorted((source.place / folder).rglob("*.py")):
            if any(_makes_server(node) for node in ast.parse(file.read_text("utf-8")).body):
                yield file


def _makes_server(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in SERVERS
