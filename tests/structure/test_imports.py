"""Allowed imports: public names for authors, no plugin from another plugin or the host, no layer from a higher one."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.structure.sources import PUBLIC_PACKAGES, ROOT, Import, imports, modules

ROOMS = (
    "names", "exports", "errors", "types", "plugin", "wire", "messages", "adapters", "hookspecs", "authoring",
    "config", "uris", "content", "context", "secrets", "schemas", "routing", "authorization", "calls", "middleware",
    "loading", "catalogue", "runtime", "host", "module_path", "cli", "toolkit", "__main__", "testing",
)  # fmt: skip
"""The packages of the host, in layers. Each may import those before it."""

WITH_INPUT_AND_OUTPUT = {
    "adapters", "config", "routing", "loading", "runtime", "host", "module_path", "cli", "toolkit", "__main__",
    "testing",
}  # fmt: skip
INPUT_AND_OUTPUT = {
    "os", "sys", "io", "pathlib", "socket", "ssl", "subprocess", "shutil", "tempfile", "select", "signal",
}  # fmt: skip

HOST = modules("host")
PLUGINS = modules("plugins")
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
        f"{module}:{found.line} imports {found.module}" + (f".{found.name}" if found.name else "")
        for module, path in paths.items()
        for found in found_in(path)
        if wrong(module, found)
    ]


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def rooms_imported(found: Import) -> set[str]:
    """Return the packages that an import names."""
    if found.module == "pegboard":
        return {found.name} if found.name in ROOMS else set()
    return {room_of(found.module)}


# --- the host


def test_every_module_of_the_host_is_in_a_layer() -> None:
    assert {room_of(module) for module in HOST} - {"__init__"} == set(ROOMS)


def test_a_layer_imports_only_lower_layers() -> None:
    def is_upward(module: str, found: Import) -> bool:
        if module == "pegboard" or found.top != "pegboard" or found.typing_only:
            return False
        return not rooms_imported(found) <= set(ROOMS[: ROOMS.index(room_of(module)) + 1])

    assert offenders(HOST, is_upward) == []


def test_every_package_is_imported() -> None:
    used = {
        room
        for module, path in HOST.items()
        for found in found_in(path)
        if found.top == "pegboard"
        for room in rooms_imported(found)
        if room != room_of(module)
    }
    assert set(ROOMS) - used - {"__main__", "adapters", "testing", "toolkit"} == set()


def cycles(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    def walk(node: str, path: list[str]) -> Iterator[list[str]]:
        if node in path:
            yield [*path[path.index(node) :], node]
            return
        for following in sorted(edges.get(node, ())):
            yield from walk(following, [*path, node])

    for node in sorted(edges):
        yield from walk(node, [])


def test_modules_of_the_host_have_no_import_cycle() -> None:
    edges: dict[str, set[str]] = {}
    for module, path in HOST.items():
        text = path.read_text("utf-8")
        at_once = {line for line, code in enumerate(text.splitlines(), 1) if re.match(r"(from|import) ", code)}
        for found in imports(text):
            if found.line in at_once and not found.typing_only:
                whole = f"{found.module}.{found.name}"
                edges.setdefault(module, set()).add(whole if whole in HOST else found.module)
    edges.pop("pegboard", None)
    assert next(cycles({module: edges[module] & set(HOST) - {"pegboard"} for module in edges}), None) is None


def test_the_host_imports_no_plugin_and_no_library_of_plugins() -> None:
    assert (
        offenders(HOST, lambda _, found: found.top in {"pegboard_plugins", "aiohttp", "jwt", "dotenv", "tests"}) == []
    )


def test_the_core_does_no_input_or_output() -> None:
    core = {
        module: path for module, path in HOST.items() if room_of(module) not in {*WITH_INPUT_AND_OUTPUT, "__init__"}
    }
    assert offenders(core, lambda _, found: found.top in INPUT_AND_OUTPUT) == []


def test_imports_are_absolute() -> None:
    assert offenders(HOST | PLUGINS | TOOLKITS, lambda _, found: found.level > 0) == []


# --- plugins, toolkits and samples


def private(found: Import) -> bool:
    """Return True if an import of pegboard names something private."""
    return found.top == "pegboard" and not (
        found.module in PUBLIC_PACKAGES and found.name in import_module(found.module).__all__
    )


def test_plugins_and_toolkits_import_only_public_names() -> None:
    assert offenders(PLUGINS | TOOLKITS, lambda _, found: private(found)) == []


def test_a_plugin_imports_no_other_plugin() -> None:
    def is_other(module: str, found: Import) -> bool:
        own = ".".join(module.split(".")[:2])
        return found.top == "pegboard_plugins" and not f"{found.module}.".startswith(f"{own}.")

    assert offenders(PLUGINS, is_other) == []


def test_a_toolkit_imports_no_other_toolkit() -> None:
    def is_other(module: str, found: Import) -> bool:
        return found.top.startswith("toolkit_") and found.top != module.partition(".")[0]

    assert offenders(TOOLKITS, is_other) == []


def test_samples_import_only_public_names() -> None:
    wrong = offenders(SAMPLES, lambda _, found: private(found) or found.top in ("pegboard_plugins", "tests"))
    assert wrong == []


# --- what is declared

OF_DISTRIBUTION = {
    "cryptography": {"cryptography"},
    "importlib-metadata": {"importlib_metadata"},
    "jsonschema-rs": {"jsonschema_rs"},
    "keyring": {"keyring"},
    "pluggy": {"pluggy"},
    "pydantic": {"pydantic", "pydantic_core", "typing_extensions"},  # pydantic itself is made of the other two
    "pyjwt": {"jwt"},
    "python-dotenv": {"dotenv"},
    "tomli": {"tomli"},
    "aiohttp": {"aiohttp", "yarl"},  # its addresses are yarl's
    "uvloop": {"uvloop"},
}
"""The modules that each distribution of the dependencies brings."""


def declared(path: Path, *, extras: bool) -> set[str]:
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    texts = list(project.get("dependencies", []))
    if extras:
        texts += [text for some in project.get("optional-dependencies", {}).values() for text in some]
    names = {re.split(r"[^A-Za-z0-9._-]", text)[0] for text in texts}
    return {module for name in names for module in OF_DISTRIBUTION.get(name, ())}


def is_undeclared(found: Import, known: set[str] | frozenset[str]) -> bool:
    return not (found.typing_only or found.level) and found.top not in sys.stdlib_module_names | known


def test_the_host_imports_only_requirements_of_its_distribution() -> None:
    required = declared(ROOT / "pyproject.toml", extras=False) | {"pegboard"}
    more = {"pegboard.cli.serve": {"uvloop"}, "pegboard.testing.pytest_plugin": {"pytest"}}
    assert offenders(HOST, lambda module, found: is_undeclared(found, required | more.get(module, set()))) == []


def test_plugins_import_only_requirements_of_the_distribution_and_its_extras() -> None:
    required = declared(ROOT / "pyproject.toml", extras=True) | {"pegboard", "pegboard_plugins"}
    assert offenders(PLUGINS, lambda _, found: is_undeclared(found, required)) == []


def test_toolkits_import_only_their_requirements() -> None:
    of_pegboard = declared(ROOT / "pyproject.toml", extras=False) | {"pegboard", "pegboard_plugins"}
    required = {
        f"toolkit_{folder.name}": declared(folder / "pyproject.toml", extras=True)
        | of_pegboard
        | {f"toolkit_{folder.name}"}
        for folder in (ROOT / "toolkits").iterdir()
        if (folder / "pyproject.toml").exists()
    }
    assert offenders(TOOLKITS, lambda module, found: is_undeclared(found, required[module.partition(".")[0]])) == []


# --- the tests themselves


def test_the_rules_find_offenders() -> None:
    text = (
        "from pegboard.host import Host\nfrom pegboard import _HOMES\n"
        "from pegboard.types import Call\nimport pegboard.errors\n"
        "if TYPE_CHECKING:\n    from pegboard.wire.codec import encode\n"
    )
    found = list(imports(text))
    assert [private(one) for one in found] == [True, True, False, True, True]
    assert [one.typing_only for one in found] == [False, False, False, False, True]
    assert next(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == ["a", "b", "c", "a"]
    assert list(cycles({"a": {"b", "c"}, "b": {"c"}})) == []
    assert all((HOST, PLUGINS, TOOLKITS))
