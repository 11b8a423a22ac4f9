"""`pegboard.testing` is documented, typed, and loaded name by name."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from pegboard import testing
from tests.structure.sources import ROOT, imports

INIT = ROOT / "host" / "pegboard" / "testing" / "__init__.py"


def test_the_names_stand_in_three_places_alike() -> None:
    assert list(testing.__all__) == sorted(set(testing.__all__))
    assert set(testing._HOMES) == set(testing.__all__)
    seen = {found.name: found.module for found in imports(INIT.read_text("utf-8")) if found.typing_only}
    assert seen == {name: f"pegboard.testing.{home}" for name, home in testing._HOMES.items()}
    assert set(dir(testing)) == set(testing.__all__)


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018


@pytest.mark.parametrize("name", testing.__all__)
def test_what_is_public_is_documented_and_typed(name: str) -> None:
    value = getattr(testing, name)
    assert value.__doc__
    assert value.__doc__.strip().split("\n\n")[0].endswith((".", ":"))
    if not inspect.isclass(value):
        assert "return" in get_type_hints(value)
        return
    for method_name, method in vars(value).items():
        if inspect.isfunction(method) and not method_name.startswith("_"):
            assert method.__doc__, method_name
            assert "return" in method.__annotations__, method_name
