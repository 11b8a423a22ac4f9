"""Annotations that are not in strings, and that Python 3.14 evaluates when they are read."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import pytest

from pegboard import Depends, Toolkit
from pegboard.plugin import Middleware, Plugin, hookimpl
from tests.host.hosting import make_host

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="Python evaluates them at the definition")
LOST = (
    "an annotation names 'Lost', which is not found. Import or define it at the top of the module, "
    "not inside a function or below `if TYPE_CHECKING`"
)
NO_UNION = "an annotation cannot be resolved: unsupported operand type(s) for |: 'str' and 'NoneType'"
FILE = "lazy.py"


def defined(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {
        "__name__": __name__, "Annotated": Annotated, "Depends": Depends,
        "Middleware": Middleware, "Plugin": Plugin, "hookimpl": hookimpl,
    }  # fmt: skip
    exec(compile(source, FILE, "exec", dont_inherit=True), names)
    return names


def problem(source: str) -> str | None:
    """Return why the function `work` is not served as a tool."""
    kit = Toolkit("kit")
    kit.tool(description="Work.")(defined(source)["work"])
    messages = [problem.message for problem in make_host(kit).load().problems]
    return messages[0].partition("): ")[2].removesuffix("; it is not served") if messages else None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def work(a: Lost): ...", LOST),
        ("class Work:\n def __call__(self, a: Lost): ...\nwork = Work()", LOST),
        ("def work(b: int) -> list[Lost] | None: ...", LOST),
        ("def outer():\n class B(int): ...\n def work(b: B, a: Lost): ...\n return work\nwork = outer()", LOST),
        (
            "def own(a: Lost): ...\ndef work(b: Annotated[int, Depends(own)]): ...",
            f"parameter 'b': the dependency 'own': its signature cannot be read: {LOST}",
        ),
        ('def work(a: "int" | None): ...', NO_UNION),
        ("def work(a: 1 / 0): ...", "an annotation cannot be resolved: division by zero"),
        ("def work(a: Later): ...\nLater = int", None),
    ],
)
def test_an_annotation_that_is_not_found_is_named(source: str, reason: str | None) -> None:
    assert problem(source) == reason


async def test_annotations_of_hooks_and_middleware_need_not_be_found() -> None:
    names = defined("""
class Passing(Middleware):
    async def on_call_tool(self, call: Lost, call_next: Lost) -> Lost:
        return await call_next(call)

class Sample(Plugin):
    @hookimpl
    def register_middleware(self, context: Lost) -> Lost:
        return [Passing()]
""")
    async with make_host(plugins={"sample": names["Sample"]}) as host:
        assert [*host.problems] == []
