"""The server in a host in memory, and a client."""

from docs.examples.server import kit
from pegboard_testing import connect


def test_notes_are_listed() -> None:
    with connect(kit) as client:
        assert client.call("add", text="Buy milk.").value == 1
        assert "Buy milk." in client.read("note://all").text
        assert "Buy milk." in client.prompt("tidy").text
