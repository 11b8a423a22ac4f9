"""Needs a library that is not installed."""

import library_that_nobody_has

from pegboard import Toolkit

kit = Toolkit("absent_library", description=library_that_nobody_has.__doc__)
