"""The toolkit in a host in memory, and a client."""

from docs.examples.simple import kit
from pegboard_testing import connect


def test_a_greeting() -> None:
    with connect(kit) as client:
        assert client.call("greet", name="Ada", times=2).value == "Hello, Ada! Hello, Ada!"


def test_a_model_can_correct_its_call() -> None:
    with connect(kit) as client:
        error = client.call("greet", name="Ada", times=9).error
        assert error is not None
        assert "times: must be at most 3" in error.message
