"""Loggers of servers. The settings of `[plugins.logging]` decide what they write."""

from __future__ import annotations

import logging


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a server."""
    return logging.getLogger(name)
