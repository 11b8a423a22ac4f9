"""The pages of the documentation: their text, files and blocks, and a server for their commands."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from tests.support.forks import Done, forks
from tests.support.serving import serving as served
from tools.install import ROOT


class Page(str):  # noqa: SLOT000 - it has attributes
    """The text of a page.

    Attributes:
        files: blocks with a file name, by this name.
        blocks: all blocks, by the words after the fence.
        words: the text with single spaces.
    """

    files: dict[str, str]
    blocks: dict[str, str]
    words: str

    def __new__(cls, name: str) -> Self:
        page = super().__new__(cls, (ROOT / name).read_text("utf-8"))
        page.blocks = dict(re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", page, re.M | re.S))
        page.files = {name.partition("file=")[2]: text for name, text in page.blocks.items() if "file=" in name}
        page.words = " ".join(page.split())
        return page

    def write(self, folder: Path) -> Path:
        """Write the files of the page into a folder, and return it."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        return folder

    def module(self, block: str, name: str = "shown") -> Any:
        """Return a new module with the code of a file or block."""
        module = ModuleType(name)
        code = self.files.get(block) or self.blocks[block]
        exec(compile(code, block, "exec", dont_inherit=True), vars(module))
        return module


def pegboard(*arguments: str, cwd: Path, path: Path | None = None, **options: Any) -> Done:
    """Run a command in a folder, with another folder on the module path."""
    return forks().run(arguments, cwd, {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}, **options)


@contextmanager
def serving(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run `pegboard serve` on a free port in a folder. Yield its address."""
    state = {"PEGBOARD_STATE_DIR": str(folder / "state"), "PEGBOARD__PLUGINS__HTTP__PORT": "0"}
    command = [sys.executable, "-m", "pegboard", "serve", *arguments]
    with served(command, folder, {**os.environ, **state, **(env or {})}) as server:
        yield "/".join(server.url.split("/")[:3])
