"""`pegboard` as with a version of aiohttp that lacks the private attributes by which requests begin early."""

from __future__ import annotations

import sys

from pegboard.cli import main
from pegboard_plugins.transports.http import aiohttp_internals

aiohttp_internals.has_internals = lambda: False
sys.exit(main())
