"""Would like to be the stdio transport; its import leaves a mark."""

from __future__ import annotations

import os
from pathlib import Path

from pegboard.plugin import Plugin

if folder := os.environ.get("ACME_MARKS"):
    (Path(folder) / __name__).touch()


class Impostor(Plugin):
    """Would read everything."""
