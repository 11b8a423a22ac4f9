"""What every tool gives, and what it says where there is nothing to give."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pegboard_testing import TestClient
from toolkit_math import kit

pytestmark = pytest.mark.asyncio(loop_scope="module")

ZERO = "Division by zero is undefined: use another divisor or base."
NONE = "The result is undefined or not a real number: use other arguments."
LARGE = "The result is too large: use smaller numbers."
LONG = "The exact result has more than 1,000 digits: use shorter numbers."
EVERY = [
    ("add", {"numbers": [0.1, 0.2]}, "0.3"),
    ("add", {"numbers": ["12345678901234567890.1", 1]}, "12345678901234567891.1"),
    ("add", {"numbers": ["1e500", "1e-600"]}, LONG),
    ("subtract", {"a": 0.3, "b": 0.1}, "0.2"),
    ("subtract", {"a": 5, "b": 5}, "0"),
    ("multiply", {"numbers": [1.1, 1.1, 10]}, "12.1"),
    ("multiply", {"numbers": [20, 5]}, "100"),
    ("multiply", {"numbers": ["1e999999", "1e999999"]}, LARGE),
    ("divide", {"a": 1, "b": 3}, "0." + "3" * 50),
    ("divide", {"a": 6, "b": 3}, "2"),
    ("divide", {"a": 1, "b": 0}, ZERO),
    ("divide", {"a": 0, "b": 0}, NONE),
    ("remainder", {"a": 7, "b": 3}, "1"),
    ("remainder", {"a": -7, "b": 3}, "2"),
    ("remainder", {"a": 7, "b": -3}, "-2"),
    ("remainder", {"a": 7.5, "b": 2}, "1.5"),
    ("remainder", {"a": 1, "b": 0}, ZERO),
    ("power", {"base": 2, "exponent": 200}, str(2**200)),
    ("power", {"base": 2, "exponent": -1}, "0.5"),
    ("power", {"base": 2, "exponent": 0.5}, "1.4142135623730950488016887242096980785696718753769"),
    ("power", {"base": -8, "exponent": 0.5}, NONE),
    ("power", {"base": 3, "exponent": "1e15"}, LARGE),
    ("square_root", {"number": 144}, "12"),
    ("logarithm", {"number": 8, "base": 2}, "3"),
    ("logarithm", {"number": 1}, "0"),
    ("logarithm", {"number": 8, "base": 1}, ZERO),
    ("round_number", {"number": 2.5}, "3"),
    ("round_number", {"number": 2.5, "mode": "half_even"}, "2"),
    ("round_number", {"number": -2.5, "mode": "up"}, "-2"),
    ("round_number", {"number": -2.5, "mode": "down"}, "-3"),
    ("round_number", {"number": 1234.567, "digits": 2}, "1234.57"),
    ("round_number", {"number": 1250, "digits": -2}, "1300"),
    ("greatest_common_divisor", {"numbers": [12, 18, 30]}, 6),
    ("least_common_multiple", {"numbers": [4, 6]}, "12"),
    ("least_common_multiple", {"numbers": [2**53 - 1, 2**53 - 2]}, str((2**53 - 1) * (2**53 - 2))),
    ("factorial", {"number": 0}, "1"),
    ("factorial", {"number": 25}, str(math.factorial(25))),
    ("prime_factors", {"number": 360}, [2, 2, 2, 3, 3, 5]),
    ("prime_factors", {"number": 1}, []),
    ("prime_factors", {"number": 9999999967}, [9999999967]),
    ("trigonometric", {"function": "sin", "angle": 180}, 0.0),
    ("trigonometric", {"function": "sin", "angle": 30}, 0.5),
    ("trigonometric", {"function": "cos", "angle": 720}, 1.0),
    ("trigonometric", {"function": "tan", "angle": 45}, 1.0),
    (
        "trigonometric",
        {"function": "tan", "angle": 90},
        "The tangent of a right angle is undefined: use another angle.",
    ),
    ("trigonometric", {"function": "cos", "angle": math.pi, "unit": "radians"}, -1.0),
    ("inverse_trigonometric", {"function": "asin", "ratio": 0.5}, 30.0),
    ("inverse_trigonometric", {"function": "acos", "ratio": -1, "unit": "radians"}, round(math.pi, 13)),
    ("angle_of", {"x": -1, "y": 1}, 135.0),
    ("convert_angle", {"angle": 180, "to": "radians"}, math.pi),
    ("convert_angle", {"angle": math.pi, "to": "degrees"}, 180.0),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), EVERY)
async def test_what_it_gives(client: TestClient, tool: str, arguments: dict[str, Any], expected: Any) -> None:
    result = await client.call(tool, arguments)
    assert (result.text if result.is_error else result.value) == expected


async def test_every_tool_is_tried() -> None:
    tried = {tool for tool, _, _ in EVERY} | {"statistics"}
    assert tried == {tool.name or tool.function.__name__ for tool in kit.register_tools()}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("square_root", {"number": -1}, "number"),
        ("logarithm", {"number": 0}, "number"),
        ("add", {"numbers": []}, "numbers"),
        ("add", {"numbers": ["NaN"]}, "numbers"),
        ("add", {"numbers": ["Infinity"]}, "numbers"),
        ("factorial", {"number": 1001}, "number"),
        ("prime_factors", {"number": 10**12}, "number"),
        ("greatest_common_divisor", {"numbers": [2**60, 2]}, "numbers"),
        ("inverse_trigonometric", {"function": "asin", "ratio": 1.1}, "ratio"),
        ("round_number", {"number": 1, "digits": 101}, "digits"),
    ],
)
async def test_what_it_refuses(client: TestClient, tool: str, arguments: dict[str, Any], message: str) -> None:
    assert (await client.call(tool, arguments)).error.message.startswith(f"Invalid arguments:\n{message}")


async def test_statistics(client: TestClient) -> None:
    assert (await client.call("statistics", numbers=[4, 1, 3, 2])).structured == {
        "count": 4,
        "sum": "10",
        "mean": "2.5",
        "median": "2.5",
        "smallest": "1",
        "largest": "4",
        "variance": "1.6666666666666666666666666666666666666666666666667",
        "standard_deviation": "1.2909944487358056283930884665941332036109739017639",
    }
    single = (await client.call("statistics", numbers=[7])).structured
    assert (single["mean"], single["median"], single["variance"], single["standard_deviation"]) == (
        "7",
        "7",
        None,
        None,
    )
