"""Raises what no `except Exception` catches."""

from pegboard import Toolkit

kit = Toolkit("falls_over")


class Catastrophe(BaseException):
    """Not an Exception."""


raise Catastrophe("in the first line\nand in the second")
