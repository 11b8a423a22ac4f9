"""The rules of methods, and a call of a client that declares the extension."""

from collections.abc import Iterable

import pytest

from docs.examples.plugins.method import EXTENSION, ClockPlugin
from pegboard.plugin import Extension, Method, ProtocolError
from pegboard_testing import MethodContract, connect


class TestMethod(MethodContract):
    def make(self) -> Iterable[Extension | Method]:
        return ClockPlugin(None).register_methods()

    def requests(self) -> list[tuple[str, dict[str, str]]]:
        return [("clock/now", {}), ("clock/now", {"format": "seconds"})]

    def invalid_requests(self) -> list[tuple[str, dict[str, str]]]:
        return [("clock/now", {"format": "stardate"})]


def test_the_method_responds() -> None:
    with connect(ClockPlugin, capabilities={"extensions": {EXTENSION: {}}}) as client:
        assert "T" in client.request("clock/now", {})["now"]
        with pytest.raises(ProtocolError, match="unknown format"):
            client.request("clock/now", {"format": "stardate"})
