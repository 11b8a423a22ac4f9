"""The modules that an import of the toolkit loads: its descriptions, names of the host and limits of parameters."""

import subprocess
import sys

SCRIPT = """
import sys, threading
import pydantic.types
from pegboard import Context, PluginConfig, RetryableToolError, ToolAnnotations, ToolExecutionError, Toolkit
from pegboard.plugin import WidensAccess
before = set(sys.modules)
import toolkit_files
print(*sorted(name for name in set(sys.modules) - before if name.partition(".")[0] != "toolkit_files"))
print(*sorted({"asyncio", "difflib", "ctypes", "subprocess"} & set(sys.modules)))
work = ("listing", "moving", "reading", "searching", "text", "walking", "watch", "writing")
print(*(name for name in work if f"toolkit_files.{name}" in sys.modules))
"""


def test_importing_the_toolkit_imports_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n") == ["", "", "", ""]
