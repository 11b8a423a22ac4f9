"""The marks of parameters, under the names of `arcade_tdk.annotations`."""

from pegboard import Inferrable

__all__ = ["Inferrable"]
