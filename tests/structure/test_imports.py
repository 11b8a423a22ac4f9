"""Allowed imports: public names for authors, no plugin from another plugin or the host, no layer from above."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from tests.structure.sources import PUBLIC_PACKAGES, ROOT, Import, imports, modules

ROOMS = (
    "names", "exports", "errors", "types", "plugin", "wire", "messages", "adapters", "hookspecs",
    "authoring", "config", "uris", "content", "media", "context", "secrets", "schemas", "routing",
    "authorization", "calls", "middleware", "terminal", "loading", "catalogue", "runtime", "reloading", "host",
    "module_path", "cli", "toolkit", "__main__",
)  # fmt: skip
"""The packages of the host, in layers. Each may import those before it."""

WITH_INPUT_AND_OUTPUT = {
    "adapters", "config", "routing", "loading", "runtime", "reloading", "host", "media", "module_path",
    "cli", "terminal", "toolkit", "__main__", "__init__",
}  # fmt: skip
INPUT_AND_OUTPUT = {
    "os", "sys", "io", "pathlib", "socket", "ssl", "subprocess", "shutil", "tempfile", "select", "signal",
}  # fmt: skip

FOR_THE_CLIENT = (
    "pegboard.errors", "pegboard.exports", "pegboard.types", "pegboard.wire",
    "pegboard.messages.texts",  # to escape texts of servers
)  # fmt: skip
"""The packages and modules of the host that the client imports."""

HOST = modules("host")
PLUGINS = modules("plugins", "pegboard_plugins")
CLIENT = modules("plugins", "pegboard_client")
TESTING = modules("plugins", "pegboard_testing")
EVALS = modules("plugins", "pegboard_evals")
MESSAGES = modules("plugins", "pegboard_messages")
TOOLKITS = {
    name: path
    for folder in sorted(ROOT.glob("toolkits/*/src"))
    for name, path in modules(str(folder.relative_to(ROOT))).items()
}
SAMPLES = {
    str(path.relative_to(ROOT)): path
    for path in sorted((ROOT / "tests" / "samples").rglob("*.py"))
    if path.name != "from_the_future.py"  # a sample of a syntax error
}


@cache
def found_in(path: Path) -> list[Import]:
    return list(imports(path.read_text("utf-8")))


def offenders(paths: dict[str, Path], wrong: Callable[[str, Import], bool]) -> list[str]:
    """Return every import that breaks a rule, as a line."""
    return [
        f"{module}:{imported.line} imports {imported.module}" + (f".{imported.name}" if imported.name else "")
        for module, path in paths.items()
        for imported in found_in(path)
        if wrong(module, imported)
    ]


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def rooms_imported(imported: Import) -> set[str]:
    """Return the packages that an import names."""
    if imported.module == "pegboard":
        return {imported.name} if imported.name in ROOMS else set()
    return {room_of(imported.module)}


def test_toml_and_metadata_have_a_single_reader_each() -> None:
    def is_second(_: str, imported: Import) -> bool:
        return f"{imported.module}.{imported.name}".startswith(("tomllib.", "importlib.metadata.", "pkg_resources."))

    assert offenders(HOST | PLUGINS | CLIENT | EVALS | TESTING | TOOLKITS, is_second) == []


# --- the host


def test_every_module_of_the_host_is_in_a_layer() -> None:
    assert {room_of(module) for module in HOST} - {"__init__"} == set(ROOMS)


def test_a_layer_imports_only_lower_layers() -> None:
    def is_upward(module: str, imported: Import) -> bool:
        if module == "pegboard" or imported.top != "pegboard" or imported.typing_only:
            return False
        return not rooms_imported(imported) <= set(ROOMS[: ROOMS.index(room_of(module)) + 1])

    assert offenders(HOST, is_upward) == []


def test_modules_have_no_import_cycle() -> None:
    edges: dict[str, set[str]] = {}
    known = HOST | CLIENT | EVALS | TESTING
    for module, path in known.items():
        text = path.read_text("utf-8")
        at_once = {line for line, code in enumerate(text.splitlines(), 1) if re.match(r"(from|import) ", code)}
        for imported in imports(text):
            if imported.line in at_once and not imported.typing_only:
                whole = f"{imported.module}.{imported.name}"
                edges.setdefault(module, set()).add(whole if whole in known else imported.module)
    edges.pop("pegboard", None)
    TopologicalSorter(edges).prepare()  # raises an exception that has the cycle


def test_the_host_imports_no_plugin_and_no_library_of_plugins() -> None:
    foreign = {"pegboard_plugins", "aiohttp", "jwt", "dotenv", "tests"}
    assert offenders(HOST | TESTING, lambda _, imported: imported.top in foreign) == []
    assert offenders(HOST, lambda _, imported: imported.top in {"pegboard_client", "pegboard_evals"}) == []


def test_no_import_is_relative() -> None:
    everything = HOST | PLUGINS | CLIENT | EVALS | TESTING | MESSAGES | TOOLKITS
    assert offenders(everything, lambda _, imported: imported.level > 0) == []


def test_the_product_imports_no_test_kit_and_no_messages() -> None:
    foreign = {"pegboard_testing", "pegboard_messages", "tests"}
    assert offenders(HOST | PLUGINS | CLIENT | EVALS | TOOLKITS, lambda _, imported: imported.top in foreign) == []


def test_the_client_imports_records_errors_and_wire_formats_of_the_host() -> None:
    def is_further(_: str, imported: Import) -> bool:
        return imported.top.startswith("pegboard") and not imported.module.startswith(
            ("pegboard_client", *FOR_THE_CLIENT)
        )

    assert offenders(CLIENT, is_further) == []


def test_the_messages_import_only_the_standard_library() -> None:
    assert offenders(MESSAGES, lambda _, imported: is_undeclared(imported, frozenset())) == []


def test_the_core_does_no_input_or_output() -> None:
    core = {module: path for module, path in HOST.items() if room_of(module) not in WITH_INPUT_AND_OUTPUT}
    assert offenders(core, lambda _, imported: imported.top in INPUT_AND_OUTPUT) == []


# --- plugins, toolkits and samples


def private(imported: Import) -> bool:
    """Return True if an import of pegboard names something private."""
    if imported.name is None and imported.module in PUBLIC_PACKAGES:
        return False
    return imported.top in {package.partition(".")[0] for package in PUBLIC_PACKAGES} and not (
        imported.module in (*PUBLIC_PACKAGES, "pegboard.errors")
        and imported.name in import_module(imported.module).__all__
    )


def test_plugins_and_toolkits_import_only_public_names() -> None:
    assert offenders(PLUGINS | TOOLKITS, lambda _, imported: private(imported)) == []


def feature_of(module: str) -> str:
    """Return the feature of a module of `pegboard_plugins`: the folder in its group, or `compat` or `support`."""
    _, *parts = module.split(".")
    return ".".join(parts[:1] if parts[:1] in (["compat"], ["support"]) else parts[1:2])


def named_features(module: str) -> set[str]:
    """Return the other features that the first line of a feature names."""
    package = ".".join(module.split(".")[:3])
    first_line = PLUGINS[package].read_text("utf-8").partition("\n")[0]
    return set(re.findall(r"`(\w+)`", first_line))


def test_a_plugin_or_toolkit_imports_no_other_than_its_first_line_names() -> None:
    def is_other(module: str, imported: Import) -> bool:
        if imported.top == "pegboard_plugins" and module in PLUGINS:
            own, other = feature_of(module), feature_of(imported.module)
            is_for_authors = own == "compat" and imported.module.count(".") == 2  # it repeats names that authors import
            return other not in (own, "support", *named_features(module)) and not is_for_authors
        return imported.top.startswith("toolkit_") and imported.top != module.partition(".")[0]

    assert offenders(PLUGINS | TOOLKITS, is_other) == []


def test_samples_import_only_public_names() -> None:
    wrong = offenders(SAMPLES, lambda _, imported: private(imported) or imported.top in ("pegboard_plugins", "tests"))
    assert wrong == []


# --- what is declared

OF_DISTRIBUTION = {
    "opentelemetry-exporter-otlp-proto-http": {"opentelemetry"},  # a namespace package
    "opentelemetry-sdk": {"opentelemetry"},
    "pydantic": {"pydantic", "pydantic_core", "typing_extensions"},  # pydantic itself is made of the other two
    "pyjwt": {"jwt"},
    "python-dotenv": {"dotenv"},
    "pyyaml": {"yaml"},
    "aiohttp": {"aiohttp", "multidict", "yarl"},  # its headers are multidict's, its addresses yarl's
}
"""The modules that a distribution brings, where they are not one of its name."""


def declared(path: Path, *, extras: bool) -> set[str]:
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    texts = list(project.get("dependencies", []))
    if extras:
        texts += [text for some in project.get("optional-dependencies", {}).values() for text in some]
    names = {re.split(r"[^A-Za-z0-9._-]", text)[0] for text in texts}
    return {module for name in names for module in OF_DISTRIBUTION.get(name, {name.replace("-", "_")})}


def is_undeclared(imported: Import, known: set[str] | frozenset[str]) -> bool:
    return not (imported.typing_only or imported.level) and imported.top not in sys.stdlib_module_names | known


def test_host_and_plugins_import_only_requirements_of_the_distribution_and_its_extras() -> None:
    required = declared(ROOT / "pyproject.toml", extras=False)
    required |= {"pegboard", "pegboard_client", "pegboard_evals", "pegboard_testing"}
    more = {
        "pegboard.cli.serving.serve": {"uvloop"},
        "pegboard.reloading.source_changes": {"watchfiles"},
        "pegboard_testing.pytest_plugin": {"pytest"},
    }
    of_host = HOST | CLIENT | EVALS | TESTING
    assert (
        offenders(of_host, lambda module, imported: is_undeclared(imported, required | more.get(module, set()))) == []
    )
    own = {"pegboard", "pegboard_client", "pegboard_evals", "pegboard_plugins"}
    required = declared(ROOT / "pyproject.toml", extras=True) | own
    assert offenders(PLUGINS, lambda _, imported: is_undeclared(imported, required)) == []


def test_toolkits_import_only_their_requirements() -> None:
    of_pegboard = declared(ROOT / "pyproject.toml", extras=False) | {"pegboard", "pegboard_client", "pegboard_plugins"}
    required = {
        f"toolkit_{folder.name}": declared(folder / "pyproject.toml", extras=True)
        | of_pegboard
        | {f"toolkit_{folder.name}"}
        for folder in (ROOT / "toolkits").iterdir()
        if (folder / "pyproject.toml").exists()
    }
    assert (
        offenders(TOOLKITS, lambda module, imported: is_undeclared(imported, required[module.partition(".")[0]])) == []
    )


def test_the_table_of_required_packages_is_complete() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Required packages\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| ([a-z-]+) \|", text, re.MULTILINE)[1:]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert named == [re.split(r"[^a-z-]", dependency)[0] for dependency in project["dependencies"]]
    assert all(f"`{extra}`" in text for extra in project["optional-dependencies"])


# --- the tests themselves


@pytest.mark.needs("pegboard_client")
def test_the_rules_find_offenders() -> None:
    text = (
        "from pegboard.host import Host\nfrom pegboard import _HOMES\n"
        "from pegboard.types import Call\nimport pegboard.errors\n"
        "if TYPE_CHECKING:\n    from pegboard.wire.codec import encode\n"
    )
    examples = list(imports(text))
    assert [private(example) for example in examples] == [True, True, False, True, True]
    assert [example.typing_only for example in examples] == [False, False, False, False, True]
    assert all((HOST, PLUGINS, CLIENT, TESTING, MESSAGES, TOOLKITS))
