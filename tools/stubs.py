"""Writes the stubs of the packages whose public names are imported on first use, for type checkers and editors.

A test keeps them so.

python -m tools.stubs           write the stubs
python -m tools.stubs --check   list the stubs that differ, exit 1 if any does
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

PACKAGES = (
    *("pegboard", "pegboard.plugin", "pegboard.terminal", "pegboard.types"),
    *("pegboard_client", "pegboard_evals", "pegboard_testing"),
)
_NOTE = "# Written by `python -m tools.stubs` from the names in `__init__.py`."


def stub_of(package: str) -> str:
    """Return the stub of a package: an import of each public name, and `__all__`."""
    homes: dict[str, str] = import_module(package)._HOMES
    lines = [_NOTE]
    for home, names in sorted((resolve_name(home, package), names) for home, names in homes.items()):
        listed = "".join(f"    {name},\n" for name in sorted(names.split()))
        lines.append(f"from {home} import (\n{listed})")
    public = "".join(f'    "{name}",\n' for name in import_module(package).__all__)
    return "\n".join([*lines, "", f"__all__ = [\n{public}]", ""])


def stub_path(package: str) -> Path:
    """Return the place of the stub of a package."""
    return Path(str(import_module(package).__file__)).with_suffix(".pyi")


def main(arguments: list[str]) -> int:
    """Write the stubs, or compare them."""
    stale = [
        package
        for package in PACKAGES
        if not stub_path(package).exists() or stub_path(package).read_text("utf-8") != stub_of(package)
    ]
    for package in stale:
        if "--check" in arguments:
            print(f"{stub_path(package)} is not up to date; run `python -m tools.stubs`", file=sys.stderr)
        else:
            stub_path(package).write_text(stub_of(package), "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
