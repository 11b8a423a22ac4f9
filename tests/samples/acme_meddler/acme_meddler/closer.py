"""Closes standard output while it is imported."""

import os

os.close(1)
