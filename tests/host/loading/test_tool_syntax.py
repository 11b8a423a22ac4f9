"""Tools and toolkits are recognized in the syntax of a file, by any name that they have there."""

from __future__ import annotations

import pytest

from pegboard.loading.found_toolkits import ToolSyntax, read_syntax

TOOL = "\ndef add(a: int) -> int: ...\n"


@pytest.mark.parametrize(
    "decorated",
    [
        "from pegboard import tool\n@tool",
        "from pegboard import tool as t\n@t(title='x')",
        "import pegboard as p\n@p.tool",
        "import pegboard\nmake = pegboard.tool\nagain = make\n@again",
        "from pegboard_plugins.compat.arcade import tool\n@tool()",
        "import pegboard_plugins.compat.arcade as arc\n@arc.tool",
        "import pegboard_plugins.compat.arcade\n@pegboard_plugins.compat.arcade.tool",
        "from pegboard_plugins.compat import arcade\n@arcade.tool\nasync",
        "try:\n    from pegboard import tool\nexcept ImportError:\n    raise\nif True:\n    x = 1\n@tool",
    ],
)
def test_a_decorated_function_is_a_tool(decorated: str) -> None:
    separator = " " if decorated.endswith("async") else ""
    assert read_syntax(f"{decorated}{separator}{TOOL.lstrip() if separator else TOOL}".encode()) == ToolSyntax((), True)


@pytest.mark.parametrize(
    "text",
    [
        f"import pegboard\nfrom langchain.tools import tool\n@tool{TOOL}",
        f"from pegboard import tool\ntool = print\n@tool{TOOL}",
        f"from .pegboard import tool\n@tool{TOOL}",
        "from pegboard import tool\nclass Adder:\n    @tool\n    def add(self): ...\n",
        f"from pegboard import Toolkit\n@kit.tool{TOOL}",
        "def pegboard(): ...\n",
        "",
    ],
)
def test_other_functions_are_not_tools(text: str) -> None:
    assert read_syntax(text.encode()) == ToolSyntax()


@pytest.mark.parametrize(
    ("text", "toolkits"),
    [
        ("from pegboard import Toolkit\nkit = Toolkit('a')", (("kit", "a"),)),
        (
            "import pegboard as p\nkit: p.Toolkit = p.Toolkit(name='a')\nother = p.Toolkit(NAME)",
            (("kit", "a"), ("other", None)),
        ),
        ("from pegboard_plugins.compat.arcade import MCPApp as App\napp = App(name='a')", (("app", "a"),)),
        ("from pegboard_plugins.compat.fastmcp import FastMCP\nmcp = FastMCP('a')", (("mcp", "a"),)),
        ("from pegboard import Toolkit\nclass Kit(Toolkit): ...\nkit = Kit('a')", (("kit", "a"),)),
        ("from pegboard import Toolkit\nkit = Toolkit('a')\nkit = None", ()),
        ("from acme import Toolkit  # not of pegboard\nkit = Toolkit('a')", ()),
    ],
)
def test_toolkits_are_found_with_their_names(text: str, toolkits: tuple[tuple[str, str | None], ...]) -> None:
    assert read_syntax(text.encode()).toolkits == toolkits


@pytest.mark.parametrize("text", [b"pegboard = (", b"pegboard\x00", b"pegboard = " + b"-" * 100_000 + b"1"])
def test_a_file_that_is_not_python_is_a_syntax_error(text: bytes) -> None:
    with pytest.raises(SyntaxError):
        read_syntax(text)
