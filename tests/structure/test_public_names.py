"""The public packages hold the API and nothing else; each name is imported when it is first used."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_type_hints

import pytest

from tests.structure.sources import PUBLIC_PACKAGES
from tools.stubs import stub_of, stub_path

PACKAGES = pytest.mark.parametrize("package", PUBLIC_PACKAGES)
IMPORTED = pytest.mark.parametrize(
    "package",
    [
        pytest.param(package, marks=pytest.mark.needs("pegboard_client"))
        if package in ("pegboard_evals", "pegboard_testing")
        else package
        for package in PUBLIC_PACKAGES
    ],
)
"""The packages, to test their objects: those of some are the client's."""


def public(package: str) -> dict[str, Any]:
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


@PACKAGES
def test_type_checkers_see_the_names_that_are_exported(package: str) -> None:
    assert stub_path(package).read_text("utf-8") == stub_of(package)


@IMPORTED
def test_every_name_can_be_imported_and_is_listed(package: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"from {package} import *", namespace)
    assert public(package).items() <= namespace.items()
    assert set(public(package)) <= set(dir(import_module(package)))


@pytest.mark.needs("pegboard_client")
def test_every_name_has_one_meaning() -> None:
    meanings = {(name, id(value)) for package in PUBLIC_PACKAGES for name, value in public(package).items()}
    twice = {name for name, count in Counter(name for name, _ in meanings).items() if count > 1}
    assert twice == {"Client"}  # `pegboard_client.Client` is a client, `pegboard.types.Client` describes a caller's


@PACKAGES
def test_an_unknown_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute"):
        getattr(import_module(package), "Hots")  # noqa: B009 - mypy knows the names


@PACKAGES
def test_no_name_is_that_of_a_module(package: str) -> None:
    """The import of such a module would replace the public object."""
    module = import_module(package)
    assert not {found.name for found in iter_modules(module.__path__)} & set(module.__all__)


def is_documented(name: str, value: Any) -> bool:
    text = (vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or f"{name}("
    return text.strip().split("\n\n")[0].endswith((".", ":")) and not text.startswith((f"{name}(", "An enumeration"))


def undocumented_methods(name: str, value: type) -> Iterator[str]:
    for key, method in vars(value).items():
        own = inspect.isfunction(method) and not key.startswith("_") and method.__module__.startswith("pegboard")
        if own and not (method.__doc__ and "return" in method.__annotations__):
            yield f"{name}.{key}"


@IMPORTED
def test_every_public_name_is_documented_and_typed(package: str) -> None:
    wrong = []
    for name, value in public(package).items():
        if inspect.isclass(value):
            wrong += [*undocumented_methods(name, value), *([] if is_documented(name, value) else [name])]
        elif inspect.isfunction(value) and not (is_documented(name, value) and "return" in get_type_hints(value)):
            wrong.append(name)
    assert wrong == []
