"""The modules of installed distributions. No module is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

from importlib_metadata import Distribution

_TESTS = ("test_*.py", "*_test.py")


def modules_of(distribution: Distribution) -> Iterator[tuple[Path, str]]:
    """Yield the file and the name of each module of a distribution that is not a test."""
    for package in packages_of(distribution):
        spec = find_spec(package)
        if spec is None:
            continue
        if spec.submodule_search_locations is None and spec.origin:
            yield Path(spec.origin), package
        for folder in map(Path, spec.submodule_search_locations or ()):
            for file in sorted(folder.rglob("*.py")):
                parts = file.relative_to(folder).with_suffix("").parts
                is_test = any(fnmatch(file.name, pattern) for pattern in _TESTS)
                if not is_test and all(map(str.isidentifier, parts)):
                    yield file, ".".join((package, *parts)).removesuffix(".__init__")


def packages_of(distribution: Distribution) -> list[str]:
    """Return the names of a distribution's packages, from its files or, for an editable installation, its name."""
    files = [file for file in distribution.files or () if file.suffix == ".py"]
    tops = {file.parts[0].removesuffix(".py") for file in files if len(file.parts) <= 2}
    own = re.sub(r"[-_.]+", "_", distribution.name).lower()
    return sorted(top for top in tops if top.isidentifier()) or [own]
