"""The check, in a host with a tool that it rejects."""

from docs.examples.plugins.definition_check import ReadOnlyPlugin
from pegboard import ToolAnnotations, Toolkit
from pegboard_testing import connect


def test_only_tools_that_change_nothing_are_served() -> None:
    kit = Toolkit("kit")

    @kit.tool(annotations=ToolAnnotations(read_only=True))
    def read() -> str:
        """Read."""
        return "read"

    @kit.tool
    def write() -> str:
        """Write."""
        return "written"

    with connect(kit, plugins={"read_only": ReadOnlyPlugin}, strict=False) as client:
        assert [tool["name"] for tool in client.tools()] == ["kit_read"]
        assert "toolkit:kit does not declare it as read-only" in str(client.problems)
