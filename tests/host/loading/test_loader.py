"""Loading: each plugin separately, completely or not at all, and a reason for each that is left out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
from pydantic import field_validator

from pegboard import Host, PluginConfig, Toolkit
from pegboard.loading.discovery import ProgramPlugins
from pegboard.loading.loader import load
from pegboard.loading.plugins import LoadProblem, LoadReport
from pegboard.plugin import (
    HostConfig,
    Plugin,
    Selection,
    ToolDefinition,
    hookimpl,
)
from tests.host.hosting import plugin_context

NOTHING_INSTALLED = {"autoload": False, "disabled_plugins": ["pegboard:*"]}


def work() -> str:
    """Do some work."""
    return "done"


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


def messages(report: LoadReport) -> list[str]:
    return [problem.message.removeprefix("given by the program: ") for problem in report.problems]


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
        (ValueError("\x1b[31mred\x07"), "ValueError: \\x1b[31mred\\x07"),
        (SystemExit(0), "SystemExit: 0"),
        (Unprintable(), "Unprintable"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_any_exception_is_reported_in_one_line_without_control_characters(
    error: BaseException, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "pegboard.loading.loader"):
        problem = sole_problem(raising(error))
    assert (problem.stage, problem.message) == ("create", words)
    place = "tests.host.loading.test_loader:raising.<locals>.Raising"
    assert str(problem) == f"plugin 'sample' ({place}), create: {words}"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.exc_info is not None
    assert record.exc_info[1] is error


def test_ctrl_c_comes_from_the_operator() -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded({"sample": raising(KeyboardInterrupt())})


@pytest.mark.parametrize("target", [5, dict, Plugin.__init__])
def test_other_targets_are_refused(target: object) -> None:
    problem = sole_problem(target)
    expected = "the target must be a Plugin subclass, a module with hooks, or a Toolkit"
    assert (problem.stage, problem.message) == ("import", expected)


@pytest.mark.parametrize(
    ("version", "cause"),
    [
        (2, "it is written for host API 2, this host has 1; upgrade pegboard"),
        ("1", "its `host_api` must be a number, such as 1, not '1'"),
    ],
)
def test_another_version_of_the_hooks_is_refused(version: Any, cause: str) -> None:
    module = ModuleType("sample")
    module.host_api = version  # type: ignore[attr-defined]
    for target in (type("Sample", (Plugin,), {"host_api": version}), module):
        problem = sole_problem(target)
        assert (problem.stage, problem.message) == ("import", cause)


class Faulty(PluginConfig):
    size: int = 1

    @field_validator("size")
    @classmethod
    def fail(cls, value: int) -> int:
        raise LookupError(f"for {value}")


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (5, "its `Config` is not a model; it must be a subclass of pegboard.PluginConfig"),
        (Faulty, "LookupError: for 2"),
        (Settings, 'given by the program: plugins.sample.size: expected an integer, found text "x"'),
    ],
)
def test_invalid_settings_are_reported(model: Any, cause: str) -> None:
    given = {"plugins": {"sample": {"size": "x" if model is Settings else 2}}}
    problem = sole_problem(type("Sample", (Plugin,), {"Config": model}), given)
    assert (problem.stage, problem.message) == ("config", cause)


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
    given = ProgramPlugins({"mcp": Worker, "Secrets-Env": Worker}, {})
    report = load(HostConfig.of({"host": {"autoload": False}}), None, given, context=plugin_context)
    assert [(str(problem.origin), problem.stage, problem.fatal) for problem in report.problems] == [
        ("plugin 'Secrets-Env'", "find", True),
        ("plugin 'mcp'", "find", True),
    ]
    kit = Toolkit("mcp")
    names = [str(plugin.origin) for plugin in loaded({"labour": Worker}, {"labour": kit, "mcp": kit}).plugins]
    assert names == ["plugin 'labour'", "toolkit 'labour'", "toolkit 'mcp'"]


def test_unknown_names_in_the_configuration_prevent_the_start() -> None:
    config = {
        "host": {**NOTHING_INSTALLED, "plugins": ["labuor"], "required": ["nobody"]},
        "plugins": {"labuor": {}},
        "toolkits": {"labour": {}},
    }
    report = loaded({"labour": Worker}, config=config)
    assert all(problem.fatal and problem.stage == "config" for problem in report.problems)
    assert messages(report) == [
        'plugins.labuor: no plugin with this name is installed; did you mean "labour"?',
        "toolkits.labour: no toolkit with this name is installed",
        "host.plugins[0]: no plugin or toolkit with this name is installed: 'labuor'; did you mean \"labour\"?",
        "host.required[0]: no plugin or toolkit with this name is installed: 'nobody'",
    ]


def test_only_selects_installed_toolkits_even_if_others_are_required() -> None:
    kits = {name: Toolkit(name) for name in ("left", "right")}
    config = {"host": {**NOTHING_INSTALLED, "required": ["right"]}}
    report = loaded(toolkits=kits, config=config, selection=Selection(only=("left",)))
    assert [plugin.origin.name for plugin in report.plugins] == ["left"]
    assert report.problems == ()
