"""A toolkit of the same distribution."""

from __future__ import annotations

import os
from pathlib import Path

from pegboard import Toolkit

if folder := os.environ.get("ACME_MARKS"):
    (Path(folder) / __name__).touch()

kit = Toolkit("meter")


@kit.tool
def read() -> int:
    """Read the meter."""
    return 42
