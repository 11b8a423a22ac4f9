"""The hooks: typed, documented, each with a rule and with a test that drives the host."""

from __future__ import annotations

import ast
import inspect
import logging
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import Host, hookspecs, plugin
from pegboard.loading.hook_rules import HOOKS
from pegboard.loading.plugins import Loaded
from pegboard.plugin.origin import Origin
from pegboard.types import AuthProvider
from tests.structure.sources import ROOT

RECORDS = {"AuthProvider": AuthProvider}
SPECS: dict[str, Callable[..., Any]] = {
    name: one for name, one in vars(hookspecs).items() if hasattr(one, "pegboard_spec")
}


def test_every_hook_has_a_rule_and_every_rule_its_hook() -> None:
    assert list(SPECS) == list(HOOKS)


def test_every_public_function_of_the_module_is_a_hook() -> None:
    functions = {name for name, one in vars(hookspecs).items() if inspect.isfunction(one) and not name.startswith("_")}
    assert functions == set(SPECS)


@pytest.mark.parametrize("hook", SPECS)
def test_a_hook_is_typed_with_public_types(hook: str) -> None:
    spec = SPECS[hook]
    hints = typing.get_type_hints(
        spec, {**{name: getattr(plugin, name) for name in plugin.__all__}, **vars(hookspecs), **RECORDS}
    )
    assert set(hints) == {*inspect.signature(spec).parameters, "return"}
    assert hints["context"] is plugin.PluginContext
    (contribution,) = typing.get_args(hints["return"])
    rule = HOOKS[hook].contribution
    if isinstance(rule, type | types.UnionType):
        given = typing.get_args(contribution) or (contribution,)
        assert [typing.get_origin(one) or one for one in given] == list(typing.get_args(rule) or (rule,))
    elif hook != "lifespan":
        assert set(rule) <= {*vars(contribution), *contribution.__annotations__}


@pytest.mark.parametrize("hook", SPECS)
def test_a_hook_is_documented(hook: str) -> None:
    text = inspect.getdoc(SPECS[hook])
    assert text
    first = text.split(". ")[0]
    assert first.startswith(("Contribute ", "Return "))
    assert text.endswith(".")


@pytest.mark.parametrize("hook", SPECS)
def test_the_specification_itself_does_nothing(hook: str) -> None:
    with pytest.raises(NotImplementedError):
        SPECS[hook](None)


@pytest.mark.parametrize("hook", HOOKS)
def test_what_a_hook_gives_has_a_place(hook: str) -> None:
    context = plugin.PluginContext("p", None, logging.getLogger("p"), Host().catalogue)
    loaded = Loaded(Origin("plugin", "p", "p:P"), None, lambda _: context)
    assert getattr(loaded, HOOKS[hook].field) == []


@pytest.mark.parametrize("hook", SPECS)
def test_a_hook_has_a_test_that_drives_the_host_and_asserts(hook: str) -> None:
    tree = ast.parse((ROOT / "tests" / "host" / "test_hooks.py").read_text("utf-8"))
    tests = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    body = tests[f"test_hook_{hook}"]
    calls = {ast.unparse(node.func) for node in ast.walk(body) if isinstance(node, ast.Call)}
    assert "make_host" in calls
    assert calls & {"value", "host.dispatch", "host.run", "host.serve", "host.respond", "command.run"}
    assert any(isinstance(node, ast.Assert) for node in ast.walk(body))
