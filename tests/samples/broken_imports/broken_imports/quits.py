"""Ends the process, and says that all is well."""

import sys

from pegboard import Toolkit

kit = Toolkit("quits")
sys.exit(0)
