"""The module path of the `pegboard` command: Python code in the working directory is not part of it.

Only modules that Python has loaded before any other code runs are imported here.
"""

import os
import sys


def leave_out_working_directory(*, as_module: bool = False) -> None:
    """Remove the working directory from `sys.path`, so that neither modules nor distributions are found there.

    Relative entries of PYTHONPATH, empty ones included, name folders below the working directory: they are removed as
    well. Folders that PYTHONPATH or a `.pth` file names by an absolute path stay.

    Args:
        as_module: Python was started as `python -m pegboard`, which puts the working directory first.
    """
    if as_module and not sys.flags.safe_path:
        del sys.path[0]
    named = os.environ.get("PYTHONPATH")
    if not named or sys.flags.ignore_environment:
        return
    entries = named.split(os.pathsep)
    if relative := {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}.difference(entries):
        unwanted = relative - _named_by_installations()
        sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) not in unwanted]


def _named_by_installations() -> set[str]:
    """Return the folders that `.pth` files of editable installations name."""
    import glob

    named: set[str] = set()
    for site in [entry for entry in sys.path if entry.endswith("-packages")]:
        for path in glob.glob(os.path.join(glob.escape(site), "*.pth")):
            with open(path, encoding="utf-8", errors="replace") as file:
                named |= {os.path.abspath(line.strip()) for line in file if os.path.isabs(line.strip())}
    return named
