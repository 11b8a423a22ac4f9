"""`pegboard` is the public API and nothing else; each name loads when it is used."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import get_type_hints

import pytest

import pegboard
from tests.structure.sources import HOST_INIT, imports


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_names_are_sorted_and_each_stands_there_once() -> None:
    assert list(pegboard.__all__) == sorted(set(pegboard.__all__), key=order)


def test_every_name_has_a_home_and_nothing_else_has() -> None:
    assert set(pegboard._HOMES) == set(pegboard.__all__)


def test_what_type_checkers_see_is_what_is_loaded() -> None:
    seen = {
        name: found.module
        for found in imports(HOST_INIT.read_text("utf-8"))
        if found.typing_only
        for name in (import_module(found.module).__all__ if found.name == "*" else [found.name])
    }
    assert seen == {name: f"pegboard.{home}" for name, home in pegboard._HOMES.items()}


@pytest.mark.parametrize("name", pegboard.__all__)
def test_a_name_can_be_imported(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"from pegboard import {name}", namespace)
    assert namespace[name] is getattr(pegboard, name)


def test_everything_can_be_imported_at_once() -> None:
    namespace: dict[str, object] = {}
    exec("from pegboard import *", namespace)
    assert set(pegboard.__all__) <= set(namespace)


def test_the_directory_lists_the_public_names() -> None:
    assert set(pegboard.__all__) <= set(dir(pegboard))


@pytest.mark.parametrize("name", ["Hots", "_private", "loader_", ""])
def test_what_is_not_there_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match="module 'pegboard' has no attribute"):
        getattr(pegboard, name)


def classes_and_functions() -> list[str]:
    values = {name: getattr(pegboard, name) for name in pegboard.__all__}
    return [name for name, value in values.items() if inspect.isclass(value) or inspect.isfunction(value)]


@pytest.mark.parametrize("name", classes_and_functions())
def test_what_is_public_is_documented(name: str) -> None:
    value = getattr(pegboard, name)
    own = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    assert own
    assert not own.startswith((f"{name}(", "An enumeration"))
    first = own.strip().split("\n\n")[0]
    assert first.endswith((".", ":"))


@pytest.mark.parametrize("name", classes_and_functions())
def test_methods_of_what_is_public_are_documented_and_typed(name: str) -> None:
    value = getattr(pegboard, name)
    if not inspect.isclass(value):
        assert "return" in get_type_hints(value)
        return
    for method_name, method in vars(value).items():
        if inspect.isfunction(method) and not method_name.startswith("_") and method.__module__.startswith("pegboard"):
            assert method.__doc__, method_name
            assert "return" in method.__annotations__, method_name
