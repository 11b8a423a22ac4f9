"""Modules that import a part which `tools.without` has removed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.structure.sources import ROOT, imports


@cache
def needs_absent(path: Path, root: Path = ROOT) -> bool:
    """Return True if a module, or a module of tests or examples that it imports, imports one that does not exist.

    Args:
        path: the module.
        root: the checkout whose modules exist.
    """
    for found in imports(path.read_text("utf-8")):
        of_tests = found.module.startswith(("tests.", "docs."))
        if of_tests or found.module.startswith("pegboard_"):
            module = (root if of_tests else root / "plugins").joinpath(*found.module.split("."))
            files = [module.with_suffix(".py"), module / "__init__.py", module / f"{found.name}.py"]
            present = [file for file in files if file.is_file()]
            if not (present or module.is_dir()) or (of_tests and any(needs_absent(file, root) for file in present)):
                return True
    return False
