"""Who imports whom: authors only what is public, plugins no other plugin, the host no plugin, no room a higher one."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import pegboard
from tests.structure.sources import ROOT, Import, imports, modules

ROOMS = (
    "errors",
    "retry_after",
    "upstream",
    "names",
    "versions",
    "contracts",
    "audit",
    "bearer",
    "codec",
    "jsonrpc",
    "meta_keys",
    "texts",
    "schema_errors",
    "argument_words",
    "argument_errors",
    "authoring",
    "hookspecs",
    "toolkit",
    "config",
    "middleware",
    "uris",
    "content",
    "context",
    "redaction",
    "schemas",
    "calls",
    "routing",
    "loading",
    "catalogue",
    "methods",
    "supervise",
    "watchdog",
    "in_flight",
    "host",
    "module_path",
    "cli",
    "__main__",
    "testing",
)
"""The rooms of the host; one may import those before it."""

WITH_INPUT_AND_OUTPUT = {
    "upstream",
    "config",
    "loading",
    "supervise",
    "watchdog",
    "host",
    "module_path",
    "cli",
    "__main__",
    "testing",
}
WITHOUT_INPUT_AND_OUTPUT = tuple(room for room in ROOMS if room not in WITH_INPUT_AND_OUTPUT)
INPUT_AND_OUTPUT = {
    "os",
    "sys",
    "io",
    "pathlib",
    "socket",
    "ssl",
    "subprocess",
    "shutil",
    "tempfile",
    "select",
    "signal",
}

UPWARD = {("pegboard.toolkit", "pegboard.cli.alone")}
"""What only a call imports: `Toolkit.run` is the command, for a file that serves itself."""

HOST = modules("host")
PLUGINS = modules("plugins")
TOOLKITS = {
    name: path
    for folder in sorted(ROOT.glob("toolkits/*/src"))
    for name, path in modules(str(folder.relative_to(ROOT))).items()
}
SAMPLES = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "tests" / "samples").rglob("*.py"))}


def found_in(path: Path) -> list[Import]:
    return list(imports(path.read_text("utf-8")))


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def rooms_imported(found: Import) -> set[str]:
    """The rooms that an import of the host names."""
    if found.module == "pegboard":
        return {found.name} if found.name in ROOMS else set()
    return {room_of(found.module)}


# --- the host


def test_every_module_of_the_host_has_its_room() -> None:
    assert {room_of(module) for module in HOST} - {"__init__"} == set(ROOMS)


@pytest.mark.parametrize("module", [module for module in HOST if module != "pegboard"])
def test_a_room_imports_only_those_below_it(module: str) -> None:
    own = room_of(module)
    below = set(ROOMS[: ROOMS.index(own) + 1])
    wrong = [
        found
        for found in found_in(HOST[module])
        if found.top == "pegboard" and not found.typing_only and not rooms_imported(found) <= below
        if (module, found.module) not in UPWARD
    ]
    assert wrong == []


def test_no_room_stands_beside_the_house() -> None:
    used = {
        room
        for module, path in HOST.items()
        for found in found_in(path)
        if found.top == "pegboard"
        for room in rooms_imported(found)
        if room != room_of(module)
    }
    assert set(ROOMS) - used - {"cli", "__main__", "testing"} == set()


def cycles(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    def walk(node: str, path: list[str]) -> Iterator[list[str]]:
        if node in path:
            yield [*path[path.index(node) :], node]
            return
        for following in sorted(edges.get(node, ())):
            yield from walk(following, [*path, node])

    for node in sorted(edges):
        yield from walk(node, [])


def test_no_module_of_the_host_imports_itself_by_a_detour() -> None:
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


@pytest.mark.parametrize("module", HOST)
def test_the_host_imports_no_plugin_and_none_of_what_plugins_are_made_of(module: str) -> None:
    tops = {found.top for found in found_in(HOST[module])}
    assert tops & {"pegboard_plugins", "aiohttp", "jwt", "dotenv", "tests"} == set()


@pytest.mark.parametrize("module", [module for module in HOST if room_of(module) in WITHOUT_INPUT_AND_OUTPUT])
def test_the_core_does_no_input_or_output(module: str) -> None:
    assert {found.top for found in found_in(HOST[module])} & INPUT_AND_OUTPUT == set()


@pytest.mark.parametrize("module", HOST)
def test_the_host_is_imported_by_its_own_name(module: str) -> None:
    assert [found for found in found_in(HOST[module]) if found.level] == []


# --- plugins, toolkits and samples


def private(found: Import) -> bool:
    """Whether an import of pegboard takes something that is not public."""
    return found.top == "pegboard" and not (found.module == "pegboard" and found.name in pegboard.__all__)


@pytest.mark.parametrize("module", [*PLUGINS, *TOOLKITS])
def test_plugins_and_toolkits_take_only_public_names(module: str) -> None:
    assert [found for found in found_in((PLUGINS | TOOLKITS)[module]) if private(found)] == []


@pytest.mark.parametrize("module", PLUGINS)
def test_a_plugin_imports_no_other_plugin(module: str) -> None:
    own = ".".join(module.split(".")[:2])
    others = [
        found
        for found in found_in(PLUGINS[module])
        if found.top == "pegboard_plugins" and f"{found.module}.".removeprefix(f"{own}.") == f"{found.module}."
    ]
    assert others == []


@pytest.mark.parametrize("module", TOOLKITS)
def test_a_toolkit_imports_no_other_toolkit(module: str) -> None:
    own = module.partition(".")[0]
    others = {found.top for found in found_in(TOOLKITS[module]) if found.top.startswith("toolkit_")} - {own}
    assert others == set()


@pytest.mark.parametrize("path", SAMPLES)
def test_a_strangers_distribution_takes_only_public_names(path: str) -> None:
    try:
        found = found_in(SAMPLES[path])
    except SyntaxError:
        return  # one of them is broken in just this way
    assert [one for one in found if private(one) or one.top in ("pegboard_plugins", "tests")] == []


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


def needed(path: Path) -> set[str]:
    """The packages that a module needs when it runs."""
    return {found.top for found in found_in(path) if not found.typing_only and not found.level}


@pytest.mark.parametrize("module", HOST)
def test_the_host_imports_only_what_its_distribution_requires(module: str) -> None:
    extras = module == "pegboard.cli.serve"  # it takes the event loop that is installed
    known = sys.stdlib_module_names | declared(ROOT / "pyproject.toml", extras=extras) | {"pegboard"}
    if module == "pegboard.testing.pytest_plugin":
        known |= {"pytest"}  # which loads it
    assert needed(HOST[module]) - known == set()


@pytest.mark.parametrize("module", PLUGINS)
def test_plugins_import_only_what_the_distribution_or_an_extra_of_it_requires(module: str) -> None:
    known = sys.stdlib_module_names | declared(ROOT / "pyproject.toml", extras=True) | {"pegboard", "pegboard_plugins"}
    assert needed(PLUGINS[module]) - known == set()


@pytest.mark.parametrize("module", TOOLKITS)
def test_toolkits_import_only_what_they_require(module: str) -> None:
    own = module.partition(".")[0]
    project = ROOT / "toolkits" / own.removeprefix("toolkit_") / "pyproject.toml"
    of_pegboard = declared(ROOT / "pyproject.toml", extras=False) | {"pegboard", "pegboard_plugins"}
    known = sys.stdlib_module_names | declared(project, extras=True) | of_pegboard | {own}
    assert needed(TOOLKITS[module]) - known == set()


# --- the tests themselves


def test_the_rules_find_what_they_are_for() -> None:
    text = (
        "from pegboard.host import Host\nfrom pegboard import Call, _HOMES\nimport pegboard.errors\n"
        "if TYPE_CHECKING:\n    from pegboard.codec import encode\n"
    )
    found = list(imports(text))
    assert [private(one) for one in found] == [True, False, True, True, True]
    assert [one.typing_only for one in found] == [False, False, False, False, True]
    assert next(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == ["a", "b", "c", "a"]
    assert list(cycles({"a": {"b", "c"}, "b": {"c"}})) == []
    assert all((HOST, PLUGINS, TOOLKITS))
