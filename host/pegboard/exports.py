"""Public names that are imported on first use (PEP 562)."""

from importlib import import_module

# `python -m pegboard` would import other modules from the working directory
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def exports(
    package: str, homes: "Mapping[str, str]"
) -> "tuple[list[str], Callable[[str], object], Callable[[], list[str]]]":
    """Return the `__all__`, `__getattr__` and `__dir__` of a package whose names are imported on first use.

    Type checkers read the stub `__init__.pyi` of the package, which `python -m tools.stubs` writes from the same names.

    Args:
        package: the name of the package.
        homes: the public names, separated by spaces, by the module that defines them. A name of a
            module begins with a dot if it is relative to the package.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home, package), name)
        setattr(import_module(package), name, value)  # cached for the next use
        return value

    return sorted(home_of), load, lambda: sorted(home_of)
