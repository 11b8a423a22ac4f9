"""The rules of definition checks, and a host with a tool that the check rejects."""

from docs.examples.plugins.definition_check import ReadOnlyPlugin, ReadOnlyTools
from pegboard import ToolAnnotations, Toolkit
from pegboard.plugin import CheckedDefinition, DefinitionCheck
from pegboard.types import Tool
from pegboard_testing import DefinitionCheckContract, connect

TOOL = Tool("kit_tool", "A tool.", {"type": "object"})
WRITE = CheckedDefinition("tools", TOOL.name, TOOL, "toolkit:kit")
READ = WRITE._replace(item=TOOL._replace(annotations=ToolAnnotations(read_only=True)))


class TestDefinitionCheck(DefinitionCheckContract):
    def make(self) -> DefinitionCheck:
        return ReadOnlyTools()

    def rejected(self) -> list[CheckedDefinition]:
        return [WRITE]

    def accepted(self) -> list[CheckedDefinition]:
        return [READ]


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
