"""The questions of mounted servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
"""The capabilities that sessions declare. A question is refused if the caller's client cannot answer it."""
