"""Settings become pydantic models only when they need pydantic."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pydantic
import pytest

MODULE = """
from __future__ import annotations
import sys
from pathlib import Path
from typing import Annotated
from pegboard import PluginConfig
from pegboard.config import FromEnvironment, HostConfig, WidensAccess, validate_section
from pegboard.plugin import pydantic

class Limit(PluginConfig):
    size: int = pydantic.Field(1, ge=1)

class Settings(PluginConfig):
    name: Annotated[str, pydantic.Field(description="the name")] = "none"
    paths: Annotated[tuple[str, ...], pydantic.Field(max_length=2), WidensAccess("opens paths")] = ()
    ratio: float = pydantic.Field(0.5, gt=0, lt=1)
    count: Annotated[int, FromEnvironment("COUNT")] = pydantic.Field(3, ge=0)
    limit: Limit | None = None
    key: pydantic.SecretStr | None = None

    @pydantic.field_validator("key")
    @classmethod
    def _is_long(cls, key):
        if key is not None and len(key.get_secret_value()) < 4:
            raise ValueError("too short")
        return key

    @pydantic.field_validator("paths")
    @classmethod
    def _in_folder(cls, paths, info):
        if info.data["name"] == "strict" and ".." in paths:
            raise ValueError("leads out")
        return tuple(f"{path}@{cls.folder_of(info).name}" if path == "here" else path for path in paths)

    @pydantic.model_validator(mode="after")
    def _is_not_taken(self):
        if self.name == "taken":
            raise ValueError("choose another name")
        return self

    @property
    def double(self) -> int:
        return 2 * self.count

def validated(section, model=None, **environ):
    empty = {"directory": Path(sys.prefix), "environ": {"XDG_CONFIG_HOME": sys.prefix, **environ}}
    config = HostConfig.load(overrides={"plugins": {"mine": section}}, **empty)
    return validate_section(config, "plugins", "mine", model or Settings)

def is_imported():
    return "pydantic" in sys.modules
"""


Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run code after a module as before the import of pydantic, or after it. Return the output of the code."""

    def run(code: str, module: str = MODULE, *, is_imported: bool = False) -> str:
        made = ModuleType("deferred_settings")
        monkeypatch.setitem(sys.modules, made.__name__, made)
        monkeypatch.setitem(sys.modules, "pydantic", pydantic)
        for name in () if is_imported else ("pydantic", "pegboard.config.plugin_config"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        exec(compile(f"{module}\n{code}", made.__name__, "exec", dont_inherit=True), vars(made))
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        pytest.param("{}", "none () 3 6", id="defaults"),
        pytest.param("{'name': 'a', 'paths': ['b']}", "a ('b',) 3 6", id="simple-types"),
        pytest.param("{'count': 4, 'ratio': 0.1}", "none () 4 8", id="limits"),
        pytest.param("{'paths': ['here']}", f"none ('here@{Path(sys.prefix).name}',) 3 6", id="validator"),
    ],
)
def test_simple_settings_do_not_import_pydantic(section: str, shown: str, run: Run) -> None:
    values = "s.name, s.paths, s.count, s.double, is_imported(), isinstance(s, Settings)"
    assert run(f"s = validated({section}); print({values})").strip() == f"{shown} False True"


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        pytest.param("{'ratio': 1}", "plugins.mine.ratio: expected", id="other-number"),
        pytest.param("{'paths': ['a', 'b', 'c']}", "plugins.mine.paths: must have at most 2 items", id="too-many"),
        pytest.param("{'name': 'strict', 'paths': ['..']}", "plugins.mine.paths: leads out", id="validator-with-data"),
        pytest.param("{'limit': {'size': 2}}", "Limit(size=2)", id="nested"),
        pytest.param("{'count': -1}", "plugins.mine.count: expected at least 0", id="beyond-limit"),
        pytest.param("{'limit': {'siez': 2}}", 'siez: unknown key; did you mean "size"', id="nested-unknown"),
        pytest.param("{'nmae': 'x'}", 'plugins.mine.nmae: unknown key; did you mean "name"', id="unknown"),
        pytest.param("{'key': 'abc'}", "too short", id="validator"),
        pytest.param("{'name': 'taken'}", "plugins.mine: choose another name", id="validator-of-the-whole"),
        pytest.param("{'key': 'abcd'}", "SecretStr('**********')", id="type-of-pydantic"),
    ],
)
def test_other_settings_are_validated_by_the_model(section: str, shown: str, run: Run) -> None:
    assert shown in run(f"s = validated({section}); print(*s) if isinstance(s, list) else print(repr(s))")


def test_a_variable_sets_a_field_that_is_not_in_the_defaults(run: Run) -> None:
    assert run("print(validated({}, COUNT='7').count)").strip() == "7"


def test_a_variable_that_widens_access_is_listed(run: Run) -> None:
    code = "from pegboard.config import widened_access\nclass Other(PluginConfig):\n"
    code += "    write: Annotated[bool, WidensAccess('changes'), FromEnvironment('WRITE')] = False\n"
    code += "environ = {'XDG_CONFIG_HOME': sys.prefix, 'WRITE': 'true'}\n"
    code += "config = HostConfig.load(environ=environ, directory=Path(sys.prefix))\n"
    code += "assert validate_section(config, 'toolkits', 'mine', Other).write\n"
    code += "print(widened_access.access_settings(config, {'toolkits': {'mine': Other}}))"
    assert "environment variable WRITE" in run(code)


@pytest.mark.parametrize("is_imported", [False, True])
def test_a_mark_of_a_part_of_a_type_is_found(run: Run, *, is_imported: bool) -> None:
    code = (
        "from pegboard.config.widened_access import access_settings\nMarked = Annotated[str, WidensAccess('opens')]\n"
    )
    code += "class Other(PluginConfig):\n    file: Marked | None = None\n    files: tuple[Marked, ...] = ()\n"
    code += "config = HostConfig.of({'plugins': {'mine': {'file': 'a', 'files': ['b']}}})\n"
    code += "print(*(one.key for one in access_settings(config, {'plugins': {'mine': Other}})))"
    assert run(code, is_imported=is_imported).split() == ["plugins.mine.file", "plugins.mine.files"]


ALIASES = {
    "objects": (
        "from typing import TypeVar\nfrom typing_extensions import TypeAliasType\nItem = TypeVar('Item')\n"
        "Marked = TypeAliasType('Marked', Annotated[str, WidensAccess('opens')])\n"
        "Many = TypeAliasType('Many', list[Annotated[Item, WidensAccess('opens')]], type_params=(Item,))\n"
        "Tree = int\n"
    ),
    "statements": (
        "type Marked = Annotated[str, WidensAccess('opens')]\n"
        "type Many[Item] = list[Annotated[Item, WidensAccess('opens')]]\ntype Tree = int | list[Tree]\n"
    ),
}


@pytest.mark.parametrize("aliases", ALIASES)
@pytest.mark.parametrize("is_imported", [False, True])
def test_a_mark_inside_of_an_alias_is_found(run: Run, aliases: str, *, is_imported: bool) -> None:
    if aliases == "statements" and sys.version_info < (3, 12):
        pytest.skip("PEP 695 needs Python 3.12")
    code = (
        f"from pegboard.config.widened_access import access_settings\n{ALIASES[aliases]}"
        "class Other(PluginConfig):\n    file: Marked\n    files: tuple[Marked | None, ...]\n"
        "    many: Many[int]\n    tree: Tree\n"
        "config = HostConfig.of({'plugins': {'mine': {'file': 'a', 'files': ['b'], 'many': [1], 'tree': 2}}})\n"
        "assert not isinstance(validate_section(config, 'plugins', 'mine', Other), list)\n"
        "print(*(one.key for one in access_settings(config, {'plugins': {'mine': Other}})))"
    )
    assert run(code, is_imported=is_imported).split() == [f"plugins.mine.{key}" for key in ("file", "files", "many")]


def test_deferred_settings_equal_those_of_the_model_and_are_immutable(run: Run) -> None:
    code = "s = validated({}); assert s == Settings() and s.model_dump()['count'] == 3 and hash"
    assert "frozen" in run(f"{code}\ntry: s.count = 1\nexcept ValueError as error: print(error)")


SAME = {
    "shared-defaults": (
        "class Other(PluginConfig):\n    names: tuple[list[str], ...] = ([],)\n"
        "    table: dict[str, int] = pydantic.Field({})\n"
        "first = validated({}, Other); first.names[0].append('a'); first.table['b'] = 1; print(validated({}, Other))"
    ),
    "default-that-cannot-be-copied": (
        "from threading import Lock\nfrom typing import Any\nlock = Lock()\n"
        "class Other(PluginConfig):\n    lock: Any = lock\nprint(validated({}, Other).lock is lock)"
    ),
    "two-limits": (
        "class Other(PluginConfig):\n    size: Annotated[int, pydantic.Field(ge=5)] = pydantic.Field(6, ge=1)\n"
        "print(validated({'size': 2}, Other))"
    ),
    "limits-of-a-named-type": (
        "Port = Annotated[int, pydantic.Field(ge=1)]\nclass Other(PluginConfig):\n    port: Port = 1\n"
        "print(validated({'port': 0}, Other))"
    ),
    "mark-in-quotes": (
        "from pegboard.config.widened_access import access_settings\n"
        "Write = Annotated[bool, WidensAccess('y')]\n"
        "class One(PluginConfig):\n    write: 'Write' = False\n"
        "class Other(PluginConfig):\n    write: Annotated['Write', 'b'] = False\n"
        "config = HostConfig.of({'plugins': {'mine': {'write': True}}})\n"
        "print(*(access_settings(config, {'plugins': {'mine': one}}) for one in (One, Other)))"
    ),
    "mark-with-another-name": (
        "from pegboard.config import WidensAccess as Widens\n"
        "from pegboard.config.widened_access import access_settings\n"
        "class Other(PluginConfig):\n    write: Annotated[bool, pydantic.Field(description='x'), Widens('y')] = False\n"
        "config = HostConfig.of({'plugins': {'mine': {'write': True}}})\n"
        "print(access_settings(config, {'plugins': {'mine': Other}, 'toolkits': {}}))"
    ),
    "changing-validator": (
        "class Other(PluginConfig):\n    size: int = 1\n    @pydantic.model_validator(mode='after')\n"
        "    def _more(self): return self.model_copy(update={'size': self.size + 1})\nprint(validated({}, Other))"
    ),
    "validator-with-info": (
        "class Other(PluginConfig):\n    size: int = 1\n    @pydantic.model_validator(mode='after')\n"
        "    def _check(self, info):\n        print(info.mode); return self\nprint(validated({}, Other))"
    ),
    "called-validator": "print(Settings._is_long(None), validated({})._is_long(None))",
    "fields-set": "s = validated({'count': 4}); print(s.model_fields_set, s.model_dump(exclude_unset=True))",
    "equal-and-hashable": (
        "class Other(PluginConfig):\n    size: int = 1\n"
        "s = validated({}, Other); print(len({s, Other(), validated({}, Other)}), s == Other(size=2), Other() == s)"
    ),
    "instance": (
        "s = validated({}); from pydantic import BaseModel, TypeAdapter\n"
        "print(isinstance(s, BaseModel), TypeAdapter(Settings).validate_python(s))"
    ),
    "secret-of-a-validator": (
        "from pegboard.secrets.redaction import Redactor\nfrom pegboard.secrets.secret_lookup import SecretStores\n"
        "class Other(PluginConfig):\n    line: str = ''\n    @pydantic.field_validator('line')\n    @classmethod\n"
        "    def _hide(cls, line): return pydantic.SecretStr(line)\n"
        "redactor = Redactor()\nSecretStores([], [validated({'line': 'abcdefgh'}, Other)], print, redactor)\n"
        "print([one.texts for one in redactor.forms()] != [])"
    ),
    "shown": "s = validated({}); print(s, repr(s), dict(s))",
    "copied": "import copy, pickle\ns = validated({'count': 4})\n"
    "print(copy.copy(s), pickle.loads(pickle.dumps(s)) == s)",
    "abstract-base": (
        "from abc import ABC\nclass Base(ABC):\n    def half(self): return self.size / 2\n"
        "class Other(PluginConfig, Base):\n    size: int = 1\nprint(validated({'size': 4}, Other).half())"
    ),
    "alias": (
        "class Other(PluginConfig):\n    size: int = pydantic.Field(1, alias='length')\n"
        "print(validated({'length': 2}, Other), validated({'size': 2}, Other))"
    ),
    "option-in-an-annotation": (
        "class Other(PluginConfig):\n    size: Annotated[int, pydantic.Field(multiple_of=2)] = 2\n"
        "print(validated({'size': 3}, Other))"
    ),
    "mark-with-an-alias": (
        "from pegboard.config.widened_access import access_settings\nclass Other(PluginConfig):\n"
        "    write: Annotated[bool, pydantic.Field(alias='writes'), WidensAccess('y')] = False\n"
        "config = HostConfig.of({'plugins': {'mine': {'writes': True}}})\n"
        "print(access_settings(config, {'plugins': {'mine': Other}, 'toolkits': {}}))"
    ),
    "import-in-the-body": (
        "class Other(PluginConfig):\n    key: pydantic.SecretStr = pydantic.SecretStr('a')\n"
        "    size: int = pydantic.Field(1, ge=1)\nprint(validated({}, Other), validated({'size': 0}, Other))"
    ),
    "nested-class": (
        "from enum import Enum\nclass Mode: ...\nclass Other(PluginConfig):\n    class Mode(Enum): A = 'a'\n"
        "    mode: Mode | None = None\nprint(validated({'mode': 'a'}, Other))"
    ),
    "deep-copy": "import copy\nprint(copy.deepcopy(validated({'paths': ['a']})))",
    "pickled-model": (
        "import pickle\ns = validated({'limit': {'size': 2}})\nloaded = pickle.loads(pickle.dumps(s))\n"
        "print(loaded, loaded == s, pickle.loads(pickle.dumps(type(s))) is type(s))"
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\nfrom threading import Barrier\nall_wait = Barrier(8)\n"
        "def make(number):\n    all_wait.wait()\n    return Settings(count=number)\n"
        "with ThreadPoolExecutor(8) as pool: made = set(map(type, pool.map(make, range(8))))\nprint(len(made))"
    ),
    "pickled-subclass": (
        "import pickle\nclass Other(Settings):\n    size: int = 1\ns = Other(name='a')\n"
        "print(pickle.loads(pickle.dumps(s)) == s)"
    ),
    "itself": (
        "class Node(PluginConfig):\n    nodes: tuple[Node, ...] = ()\n    size: int = pydantic.Field(1, ge=1)\n"
        "print(validated({'nodes': [{'nodes': [{'size': 2}]}]}, Node), validated({'nodes': [{'size': 0}]}, Node))"
    ),
    "runs-of-a-validator": (
        "class Other(PluginConfig):\n    size: int = 1\n    table: dict[str, int] = pydantic.Field({})\n"
        "    @pydantic.field_validator('size')\n    @classmethod\n"
        "    def _check(cls, size): print('checked'); return size\n"
        "print(validated({'size': 2, 'table': {'a': 1}}, Other))"
    ),
    "type-of-pydantic": (
        "class Other(PluginConfig):\n    key: Annotated[pydantic.SecretStr | None, FromEnvironment('KEY')] = None\n"
        "print(validated({}, Other), validated({}, Other, KEY='abcd').key.get_secret_value())"
    ),
    "metadata-of-pydantic": (
        "class Other(PluginConfig):\n    name: Annotated[str, pydantic.StringConstraints(to_lower=True)] = 'a'\n"
        "print(validated({'name': 'B'}, Other))"
    ),
    "deleted": "try: del validated({}).count\nexcept ValueError as error: print(type(error))",
    "options-of-the-class": "class Other(PluginConfig, str_to_lower=True):\n    name: str = 'A'\n"
    "print(validated({'name': 'B'}, Other))",
    "names-of-methods": (
        "class Other(PluginConfig):\n    model: str = 'a'\n"
        "    @classmethod\n    def default(cls): return cls.__name__\n"
        "s = validated({'model': 'b'}, Other); print(s.model, s.default(), list(Other.model_fields))"
    ),
    "post-init": (
        "class Other(PluginConfig):\n    size: int = 1\n    def model_post_init(self, context): print('made')\n"
        "validated({}, Other)"
    ),
    "name-for-type-checkers": (
        "class Other(PluginConfig):\n    other: Missing | None = None\n    size: int = 1\n"
        "print(validated({'size': 2}, Other))"
    ),
    "default-of-the-class": (
        "class Other(PluginConfig):\n    size: int = 1\ntry: Other.size\nexcept AttributeError as error: print(error)"
    ),
    "constant": "from typing import Final\nclass Other(PluginConfig):\n    size: Final[int] = 1\n"
    "print(validated({}, Other))",
}


@pytest.mark.filterwarnings("ignore:Annotation 'size' is marked as final")
@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_a_deferred_class_behaves_as_a_model(code: str, run: Run) -> None:
    assert run(code) == run(code, is_imported=True) != ""


def test_limits_in_annotations_that_are_not_strings_are_kept(run: Run) -> None:
    code = "class Other(PluginConfig):\n    size: Annotated[int, pydantic.Field(ge=1)] = 1"
    code += "\nprint(validated({'size': 0}, Other))"
    assert "expected at least 1" in run(code, MODULE.replace("from __future__ import annotations", ""))


def test_values_are_not_evaluated(run: Run) -> None:
    assert "print('ran')" in run("""print(validated({'name': "print('ran')", 'count': 4}).name)""")


@pytest.mark.parametrize(
    "body",
    [
        "import pydantic\nclass Other(PluginConfig):\n    size: int = pydantic.Field(1, ge=1)",
        "class Other(Settings):\n    size: int = 1",
        (
            "class Other(PluginConfig):\n    size: int = 1\n    @pydantic.model_validator(mode='before')\n"
            "    @classmethod\n    def _check(cls, data): return data"
        ),
        "def local(T):\n    class Other(PluginConfig):\n        size: T = 1\n    return Other\nOther = local(int)",
    ],
    ids=["after-import", "subclass", "validator-before", "local-types"],
)
def test_other_classes_are_models_at_once(body: str, run: Run) -> None:
    code = "from pydantic import BaseModel; print(issubclass(Other, BaseModel), Other().size)"
    assert run(f"{body}\n{code}").strip() == "True 1"
