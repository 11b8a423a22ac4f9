"""`pegboard` is the public API and nothing else; each name loads when it is used."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_type_hints

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


def test_every_name_can_be_imported() -> None:
    namespace: dict[str, object] = {}
    exec("from pegboard import *", namespace)
    assert [name for name in pegboard.__all__ if namespace[name] is not getattr(pegboard, name)] == []


def test_the_directory_lists_the_public_names() -> None:
    assert set(pegboard.__all__) <= set(dir(pegboard))


@pytest.mark.parametrize("name", ["Hots", "_private", "loader_", ""])
def test_what_is_not_there_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match="module 'pegboard' has no attribute"):
        getattr(pegboard, name)


def classes_and_functions() -> dict[str, Any]:
    values = {name: getattr(pegboard, name) for name in pegboard.__all__}
    return {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isfunction(value)}


def is_documented(name: str, value: Any) -> bool:
    text = (vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or f"{name}("
    first = text.strip().split("\n\n")[0]
    return first.endswith((".", ":")) and not text.startswith((f"{name}(", "An enumeration"))


def undocumented_methods(name: str, value: type) -> Iterator[str]:
    for key, method in vars(value).items():
        own = inspect.isfunction(method) and not key.startswith("_") and method.__module__.startswith("pegboard")
        if own and not (method.__doc__ and "return" in method.__annotations__):
            yield f"{name}.{key}"


def test_every_public_name_is_documented_and_typed() -> None:
    values = classes_and_functions()
    wrong = [name for name, value in values.items() if not is_documented(name, value)]
    for name, value in values.items():
        if inspect.isclass(value):
            wrong += undocumented_methods(name, value)
        elif "return" not in get_type_hints(value):
            wrong.append(name)
    assert wrong == []
