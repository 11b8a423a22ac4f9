"""Loading: each plugin separately, completely or not at all, and a reason for each that is left out."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from pegboard import Host, PluginConfig, Toolkit
from pegboard.config import HostConfig
from pegboard.loading.discovery import ProgramPlugins, Selection
from pegboard.loading.loader import load
from pegboard.loading.plugins import LoadProblem, LoadReport
from pegboard.plugin import Plugin, ToolDefinition, hookimpl
from tests.host.hosting import plugin_context, work

NOTHING_INSTALLED = {"autoload": False, "disabled_plugins": ["pegboard:*"]}


class Settings(PluginConfig):
    size: int = 1


class Worker(Plugin):
    Config = Settings

    @hookimpl
    def register_tools(self) -> list[ToolDefinition]:
        return [ToolDefinition(work, name=f"work_{self.config.size}")]


def loaded(
    plugins: Mapping[str, Any] | None = None,
    toolkits: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    selection: Selection | None = None,
) -> LoadReport:
    """Load the plugins of a program, without those that are installed."""
    settings = HostConfig.of({"host": NOTHING_INSTALLED, **(config or {})})
    return load(settings, selection, ProgramPlugins(plugins or {}, toolkits or {}), context=plugin_context)


def sole_problem(target: Any, config: Mapping[str, Any] | None = None) -> LoadProblem:
    """Return the problem of one plugin, which leaves another alone."""
    report = loaded({"sample": target, "labour": Worker}, config=config)
    assert [plugin.origin.name for plugin in report.plugins] == ["labour"]
    (problem,) = report.problems
    assert problem.origin is not None
    assert (problem.origin.name, problem.fatal) == ("sample", True)
    return problem


def test_classes_objects_modules_and_toolkits_are_plugins_with_settings() -> None:
    module = ModuleType("sample")
    module.Config = Settings  # type: ignore[attr-defined]
    module.register_tools = hookimpl(lambda context: [ToolDefinition(work, name=f"work_{context.config.size}")])  # type: ignore[attr-defined]
    kit = Toolkit("kit", config=Settings)
    kit.tool(work)
    settings = {"plugins": {"a": {"size": 3}, "module": {"size": 4}}, "toolkits": {"one": {"size": 7}}}
    report = loaded(
        {"a": Worker, "instance": Worker(Settings(size=5)), "module": module}, {"one": kit, "two": kit}, settings
    )
    names = {plugin.origin.name: plugin.contributions["register_tools"][0].name for plugin in report.plugins}
    assert names == {"a": "work_3", "instance": "work_5", "module": "work_4", "one": None, "two": None}
    sizes = [plugin.context.config.size for plugin in report.plugins if plugin.origin.kind == "toolkit"]
    assert (sizes, report.problems) == ([7, 1], ())
    assert all(plugin.import_seconds > 0 for plugin in report.plugins)


def test_the_base_class_of_settings_serves_a_plugin_without_settings() -> None:
    report = loaded(toolkits={"kit": Toolkit("kit", config=PluginConfig)})
    assert report.problems == ()
    assert report.plugins[0].context.config == PluginConfig()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text either")


def raising(error: BaseException) -> type[Plugin]:
    class Raising(Plugin):
        def __init__(self, config: Any) -> None:
            raise error

    return Raising


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("\x1b[31mred\x07\nand more"), "ValueError: \\x1b[31mred\\x07 and more"),
        (Unprintable(), "Unprintable"),
    ],
    ids=["control characters", "unprintable"],
)
def test_any_exception_is_reported_in_one_line_without_control_characters(error: Exception, words: str) -> None:
    problem = sole_problem(raising(error))
    assert (problem.stage, problem.message) == ("create", words)
    place = "tests.host.loading.test_loader:raising.<locals>.Raising"
    assert str(problem) == f"plugin 'sample' ({place}), create: {words}"


def test_ctrl_c_comes_from_the_operator() -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded({"sample": raising(KeyboardInterrupt())})


def test_a_plugin_that_fails_late_leaves_nothing_behind() -> None:
    def crash(self: Plugin) -> Any:
        yield
        raise RuntimeError("late")

    late = type("Late", (Worker,), {"register_transports": hookimpl(crash)})
    problem = sole_problem(late)
    assert (problem.stage, problem.message) == ("contribute", "RuntimeError: late")
    host = Host({"host": NOTHING_INSTALLED}, plugins={"late": late, "labour": Worker})
    assert list(host.load().tools) == ["work_1"]


def test_a_plugin_that_cannot_be_compared_or_listed_affects_no_other() -> None:
    class Hostile(Plugin):
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("cannot be compared")

        def __dir__(self) -> list[str]:
            raise RuntimeError("cannot be listed")

    assert sole_problem(Hostile).stage == "hooks"


def test_a_program_cannot_take_the_name_of_a_built_in_plugin_but_a_toolkit_can() -> None:
    program = ProgramPlugins({"mcp": Worker, "Secrets-Env": Worker}, {})
    report = load(HostConfig.of({"host": {"autoload": False}}), None, program, context=plugin_context)
    assert [(str(problem.origin), problem.stage, problem.fatal) for problem in report.problems] == [
        ("plugin 'Secrets-Env'", "find", True),
        ("plugin 'mcp'", "find", True),
    ]
    kit = Toolkit("mcp")
    names = [str(plugin.origin) for plugin in loaded({"labour": Worker}, {"labour": kit, "mcp": kit}).plugins]
    assert names == ["plugin 'labour'", "toolkit 'labour'", "toolkit 'mcp'"]
