"""toolkit-math: the arithmetic that people expect of a calculator. This module is the public API and nothing else."""

from toolkit_math import arithmetic, describing, trigonometry, whole_numbers
from toolkit_math.kit import kit

__all__ = ["arithmetic", "describing", "kit", "trigonometry", "whole_numbers"]
