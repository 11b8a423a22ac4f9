"""A toolkit without tools that ends streams with their token at once, instead of up to a minute later.

A process under test finds it in a folder.
"""

from __future__ import annotations

from pegboard import Toolkit
from pegboard_plugins.mcp import token_lifetime

kit = Toolkit("hasty")

token_lifetime.MIN_LIFETIME_SECONDS = 0.2
