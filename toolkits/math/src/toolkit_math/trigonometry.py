"""Trigonometric functions in floating point, rounded to 13 decimal places."""

import math
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from pegboard import RetryableToolError
from toolkit_math.kit import calculates

Unit = Literal["degrees", "radians"]
Angle = Annotated[float, Field(ge=-1e9, le=1e9)]
Ratio = Annotated[float, Field(ge=-1, le=1)]
_DIGITS = 13

_FUNCTIONS: dict[str, Callable[[float], float]] = {"sin": math.sin, "cos": math.cos, "tan": math.tan}
_INVERSES: dict[str, Callable[[float], float]] = {"asin": math.asin, "acos": math.acos}


@calculates("Sine, cosine, tangent")
def trigonometric(function: Literal["sin", "cos", "tan"], angle: Angle, unit: Unit = "degrees") -> float:
    """Return the sine, cosine or tangent of an angle."""
    radians = math.radians(math.fmod(angle, 360)) if unit == "degrees" else angle
    if function == "tan" and round(math.cos(radians), _DIGITS) == 0:
        raise RetryableToolError("The tangent of a right angle is undefined: use another angle.")
    return round(_FUNCTIONS[function](radians), _DIGITS) + 0.0


@calculates("Angle of a sine or cosine")
def inverse_trigonometric(function: Literal["asin", "acos"], ratio: Ratio, unit: Unit = "degrees") -> float:
    """Return the angle with the given sine or cosine."""
    return _in(unit, _INVERSES[function](ratio))


@calculates("Angle of a point")
def angle_of(x: Angle, y: Angle, unit: Unit = "degrees") -> float:
    """Return the angle between the x axis and the line from the origin to a point: the arc tangent of y / x."""
    return _in(unit, math.atan2(y, x))


@calculates("Convert an angle")
def convert_angle(angle: Angle, to: Unit) -> float:
    """Convert degrees to radians or radians to degrees."""
    return math.degrees(angle) if to == "degrees" else math.radians(angle)


def _in(unit: Unit, radians: float) -> float:
    return round(math.degrees(radians) if unit == "degrees" else radians, _DIGITS)
