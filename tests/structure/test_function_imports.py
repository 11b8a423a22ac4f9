"""Imports inside functions of the host, each for one of three reasons, and the one module that changes imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.sources import modules

DISPATCH = """
pegboard.cli.command_failures pegboard.cli.command_runs pegboard.cli.commands.status
pegboard.cli.commands.config_file pegboard.cli.commands.plugins_command
pegboard.cli.commands.trust_commands pegboard.cli.host_setup pegboard.cli.inspection.host_checks
pegboard.cli.inspection.secret_report pegboard.cli.inspection.tool_lookup pegboard.cli.log_setup
pegboard.cli.parsing.parser pegboard.cli.reloads.reload_requests pegboard.cli.reloads.running_hosts
pegboard.cli.serving.toolkit_server pegboard.loading.discovery
pegboard.loading.loader
pegboard.loading.process_changes pegboard.loading.source_files pegboard.runtime.asgi_application
pegboard.terminal.fitted_lines pegboard.terminal.printing
pegboard.terminal.standard_streams
import_module(module)
"""
"""Modules for one command, one transport, or the way in which a command ends."""

OPTIONAL = """
docstring_parser fcntl jsonschema_rs uvloop watchfiles
import_module(place)
"""
"""Packages that may be absent, or whose wheel may be; `import_module(place)` is another framework of an author."""

SELDOM = """
difflib glob http json pydantic pydantic_core tomli
pegboard.authoring.absent_options pegboard.authoring.transformed
pegboard.authorization.token_lookup
pegboard.calls.completion pegboard.calls.content_results pegboard.calls.dependencies pegboard.calls.media_results
pegboard.catalogue.catalogue_draft pegboard.catalogue.content_compiler pegboard.catalogue.item_checks
pegboard.catalogue.raw_definitions pegboard.catalogue.similar_tools
pegboard.catalogue.tool_metadata pegboard.catalogue.tool_settings
pegboard.config.explain pegboard.config.file_schema pegboard.config.lines
pegboard.content.function_results pegboard.content.rules
pegboard.context.host_calls pegboard.context.interaction pegboard.context.log
pegboard.context.request_headers pegboard.context.rounds pegboard.context.session_data
pegboard.errors pegboard.errors.tracebacks
pegboard.loading.closed_policy pegboard.loading.late_toolkits
pegboard.messages.argument_errors pegboard.messages.hints pegboard.messages.texts
pegboard.plugin.base
pegboard.reloading.reloader pegboard.runtime.observation pegboard.runtime.sealed_state
pegboard.schemas pegboard.schemas.authored_schemas pegboard.schemas.booleans pegboard.schemas.changed_arguments
pegboard.schemas.dependencies pegboard.schemas.docstrings pegboard.schemas.exact_types pegboard.schemas.inlining
pegboard.schemas.json_schema pegboard.secrets.leaks pegboard.types.content
import_module(home) import_module(package)
"""
"""Modules that most processes do not need, with what they import. Together they would cost a start 130 ms.

`import_module(home)` and `import_module(package)` import public names on first use. `pegboard.errors` and
`pegboard.plugin.base` are for modules of authors, which load without a host.
"""

REASONS = {name for reason in (DISPATCH, OPTIONAL, SELDOM) for name in reason.split()}
START = """
import sys, pathlib
before = set(sys.modules)  # Python 3.14 loads glob with pathlib
import pegboard.cli.parsing.parser, pegboard.cli.serving.serve
print(*set(sys.modules) - before)
"""
IN_A_START = {
    *("pydantic", "pydantic_core", "tomli", "pegboard.errors", "pegboard.errors.tracebacks"),
    *("pegboard.plugin.base", "pegboard.schemas"),
}
"""Modules that a start loads, but not each process that imports the function: one of an author does not load them."""


def imported_in_functions(path: Path) -> Iterator[str]:
    """Yield the modules that functions of a file import, and the calls of `import_module`."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            yield f"import_module({ast.unparse(node.args[0])})"


def test_each_import_in_a_function_has_a_reason() -> None:
    assert {name for path in modules("host").values() for name in imported_in_functions(path)} == REASONS


def test_a_start_does_not_load_what_it_seldom_needs() -> None:
    loaded = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True).stdout.split()
    assert {*SELDOM.split()} & {*loaded} == IN_A_START


def test_only_public_packages_import_names_on_first_use() -> None:
    """A `__getattr__` of a module is an import in a function, too."""
    assert not [name for name, path in modules("host").items() if "def __getattr__" in path.read_text("utf-8")]


CHANGES = {"__import__", "meta_path", "path_hooks"}
CHANGING = "pegboard_plugins.toolkit_sources.arcade_toolkits.loading"


def changes_imports(source: str) -> bool:
    nodes = ast.walk(ast.parse(source))
    named = {getattr(node, field, None) for node in nodes for field in ("attr", "id", "value", "name")}
    return bool(CHANGES & {name for name in named if isinstance(name, str)})


@pytest.mark.needs("arcade_toolkits")
def test_one_module_changes_imports() -> None:
    paths = modules("host") | modules("plugins")
    assert [name for name, path in paths.items() if changes_imports(path.read_text("utf-8"))] == [CHANGING]
