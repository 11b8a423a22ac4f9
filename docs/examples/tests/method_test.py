"""The method, called by a client that declares the extension."""

import pytest

from docs.examples.plugins.method import EXTENSION, ClockPlugin
from pegboard.plugin import ProtocolError
from pegboard_testing import connect


def test_the_method_responds() -> None:
    with connect(ClockPlugin, capabilities={"extensions": {EXTENSION: {}}}) as client:
        assert "T" in client.request("clock/now", {})["now"]
        with pytest.raises(ProtocolError, match="unknown format"):
            client.request("clock/now", {"format": "stardate"})
