"""The settings that widen access are found by their marks, wherever a type has them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeVar

import pytest
from pydantic import Field
from typing_extensions import TypeAliasType

from pegboard import PluginConfig
from pegboard.config import HostConfig, validate_section
from pegboard.config.widened_access import access_settings
from pegboard.plugin import WidensAccess
from tests.support.config import load

Item = TypeVar("Item")
Marked = Annotated[str, WidensAccess("opens")]
Named = TypeAliasType("Named", Annotated[str, WidensAccess("opens")])
Many = TypeAliasType("Many", list[Annotated[Item, WidensAccess("opens")]], type_params=(Item,))
Tree = TypeAliasType("Tree", "int | list[Tree]")


class Settings(PluginConfig):
    whole: Marked = ""
    part: Marked | None = None
    items: tuple[Marked, ...] = ()
    named: Named = ""
    many: Many[int] = Field([])
    tree: Tree = 0
    write: Annotated[bool, Field(alias="writes"), WidensAccess("writes")] = False


def marked(config: HostConfig, model: type[PluginConfig] = Settings) -> list[str]:
    return [
        setting.key.removeprefix("plugins.mine.") for setting in access_settings(config, {"plugins": {"mine": model}})
    ]


def test_marks_are_found_in_parts_of_types_and_in_aliases() -> None:
    values = {"whole": "a", "part": "a", "items": ["b"], "named": "c", "many": [1], "tree": 2, "writes": True}
    config = HostConfig.of({"plugins": {"mine": values}})
    assert not isinstance(validate_section(config, "plugins", "mine", Settings), list)
    assert marked(config) == ["whole", "part", "items", "named", "many", "writes"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 needs Python 3.12")
def test_marks_are_found_in_statements_of_types() -> None:
    names = {"Annotated": Annotated, "WidensAccess": WidensAccess, "PluginConfig": PluginConfig, "__name__": __name__}
    code = (
        "type Named = Annotated[str, WidensAccess('opens')]\ntype Tree = int | list[Tree]\n"
        "class Other(PluginConfig):\n    tree: Tree = 0\n    named: Named | None = None"
    )
    exec(compile(code, "settings", "exec", dont_inherit=True), names)
    assert marked(HostConfig.of({"plugins": {"mine": {"tree": 1, "named": "a"}}}), names["Other"]) == ["named"]  # type: ignore[arg-type]  # of the code


def test_a_variable_that_widens_access_is_listed(tmp_path: Path) -> None:
    config = load(tmp_path, environ={"WRITE": "true"})
    declared = [("writes", "WRITE", "literals")]
    assert not isinstance(validate_section(config, "plugins", "mine", Settings, declared), list)
    assert marked(config) == ["writes"]
