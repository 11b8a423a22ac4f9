"""Names, options and methods of other frameworks that pegboard does not have, or has elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any, NoReturn


def missing_names(module: str, places: Mapping[str, str] = {}, **homes: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module. Its ImportError names the replacement of the import.

    Args:
        module: the module.
        places: names that pegboard has elsewhere, each with that place.
        homes: names that are imported on first use, each with its submodule.
    """

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{module}.{homes[name]}"), name)
        if name.startswith("_"):  # Python asks for such names
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place = places.get(name, "see docs/migration.md")
        raise ImportError(
            f"{module} has no {name!r}: {place}, or mount the unchanged server with "
            "[plugins.upstreams.servers.NAME] in hostconfig.toml",
            name=module,
        )

    return find


def check_options(options: Mapping[str, Any], elsewhere: Mapping[str, str], without_effect: Collection[str]) -> None:
    """Check the names of options.

    Args:
        options: the options, by name.
        elsewhere: options that belong to another place in pegboard, each with that place.
        without_effect: options that pegboard does not need.

    Raises:
        TypeError: an option does not exist, or belongs to another place in pegboard.
    """
    for name, value in options.items():
        if name in elsewhere and value:
            raise TypeError(f"the option {name!r} does not exist in pegboard: {elsewhere[name]}")
        if name not in elsewhere and name not in without_effect:
            raise TypeError(f"there is no option {name!r}")


class Elsewhere:
    """A method that pegboard does not have. Its AttributeError names the replacement."""

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        message = f"{owner.__name__}.{self._name} does not exist in pegboard: {self._advice}"
        raise AttributeError(message, name=self._name, obj=None)  # Python suggests similar names of an object
