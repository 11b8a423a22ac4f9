"""Loggers of servers. The settings of `[plugins.logging]` decide what they write."""

from __future__ import annotations

import logging


def configure_logging(level: str | int = "INFO") -> None:
    """Write messages of a level and above to standard error, unless the program writes them elsewhere."""
    logging.basicConfig(level=level)


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a server."""
    return logging.getLogger(name)
