"""Loading: each plugin by itself, whole or not at all, and a reason for each that is left out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from pegboard import Host, PluginConfig, Toolkit
from pegboard.loading.discovery import ProgramPlugins, defaults
from pegboard.loading.loader import load
from pegboard.loading.plugins import LoadProblem, LoadReport
from pegboard.plugin import (
    ConfigError,
    HostConfig,
    Plugin,
    PluginContext,
    PluginError,
    Selection,
    ToolDefinition,
    hookimpl,
)
from tests.host.hosting import plugin_context
from tests.support.distributions import make_distribution

NOTHING_INSTALLED = {"autoload": False, "disabled_plugins": ["pegboard:*"]}


def work() -> str:
    """Do some work."""
    return "done"


class Settings(PluginConfig):
    """Settings of the samples."""

    size: int = 1


class Worker(Plugin):
    """A plugin in good order."""

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
    """What becomes of plugins that a program hands over, with nothing that happens to be installed."""
    settings = {"host": NOTHING_INSTALLED, **(config or {})}
    given = ProgramPlugins(plugins or {}, toolkits or {})
    return load(HostConfig.of(settings), selection, given, context=plugin_context)


def sole_problem(target: Any, config: Mapping[str, Any] | None = None) -> LoadProblem:
    """The problem with one plugin, which leaves the one beside it alone."""
    report = loaded({"sample": target, "labour": Worker}, config=config)
    assert [plugin.origin.name for plugin in report.plugins] == ["labour"]
    (problem,) = report.problems
    assert problem.origin is not None
    assert problem.origin.name == "sample"
    assert problem.fatal
    return problem


# --- what may be a plugin


def test_a_class_is_made_with_its_settings() -> None:
    (plugin,) = loaded({"labour": Worker}, config={"plugins": {"labour": {"size": 3}}}).plugins
    assert isinstance(plugin.instance, Worker)
    assert plugin.instance.config == plugin.context.config == Settings(size=3)
    assert [tool.name for tool in plugin.contributions["register_tools"]] == ["work_3"]


def test_an_instance_and_a_module_are_plugins_too() -> None:
    module = ModuleType("sample")
    module.Config = Settings  # type: ignore[attr-defined]
    module.register_tools = hookimpl(lambda context: [ToolDefinition(work, name=f"work_{context.config.size}")])  # type: ignore[attr-defined]
    report = loaded(
        {"instance": Worker(Settings(size=5)), "module": module}, config={"plugins": {"module": {"size": 4}}}
    )
    assert [[tool.name for tool in plugin.contributions["register_tools"]] for plugin in report.plugins] == [
        ["work_5"],
        ["work_4"],
    ]


def test_a_toolkit_is_known_by_the_name_it_is_found_under_and_may_be_there_twice() -> None:
    kit = Toolkit("kit", config=Settings)
    kit.tool(work)
    report = loaded(toolkits={"one": kit, "other": kit}, config={"toolkits": {"one": {"size": 7}}})
    assert [(plugin.origin.name, plugin.context.config.size) for plugin in report.plugins] == [("one", 7), ("other", 1)]
    assert report.problems == ()


def test_a_hook_is_told_about_its_own_plugin() -> None:
    seen: list[PluginContext] = []

    class Curious(Plugin):
        Config = Settings

        @hookimpl
        def register_tools(self, context: PluginContext) -> None:
            seen.append(context)

    loaded({"curious": Curious})
    assert [(context.name, context.config, context.logger.name) for context in seen] == [
        ("curious", Settings(), "pegboard.plugins.curious")
    ]


def test_plugins_are_asked_in_the_order_of_their_names() -> None:
    asked: list[str] = []

    class Asked(Plugin):
        @hookimpl
        def register_tools(self, context: PluginContext) -> None:
            asked.append(context.name)

    loaded({"c": Asked, "a": Asked}, {"b": Asked})
    assert asked == ["a", "b", "c"]


# --- what fails, and where


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


class Catastrophe(BaseException):
    pass


def raising(error: BaseException) -> type[Plugin]:
    class Raising(Plugin):
        def __init__(self, config: Any) -> None:
            raise error

    return Raising


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError("one\n  two\n"), "ValueError: one two"),
        (ValueError(), "ValueError"),
        (ValueError("\x1b[31mred\x07"), "ValueError: \\x1b[31mred\\x07"),
        (SystemExit(0), "SystemExit: 0"),
        (Catastrophe("big"), "Catastrophe: big"),
        (GeneratorExit(), "GeneratorExit"),
        (Unprintable(), "Unprintable"),
        (PluginError("its own words"), "its own words"),
        (ConfigError(["its own words"]), "ConfigError: its own words"),
    ],
    ids=[
        "words",
        "two lines",
        "no words",
        "escapes",
        "an exit",
        "a BaseException",
        "GeneratorExit",
        "no words to be had",
        "PluginError",
        "ConfigError",
    ],
)
def test_whatever_it_raises_is_told_in_one_line_that_no_terminal_obeys(error: BaseException, words: str) -> None:
    problem = sole_problem(raising(error))
    assert (problem.stage, problem.message) == ("create", words)


def test_ctrl_c_is_the_operators() -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded({"sample": raising(KeyboardInterrupt())})


@pytest.mark.parametrize("target", [5, "module:kit", None, dict, Plugin.__init__])
def test_a_target_that_is_no_plugin_is_refused(target: object) -> None:
    problem = sole_problem(target)
    assert problem.stage == "import"
    assert problem.message == "the target must be a Plugin subclass, a module with hooks, or a Toolkit"


@pytest.mark.parametrize(
    ("version", "cause"),
    [
        (2, "it is written for host API 2, this host has 1; upgrade pegboard"),
        (0, "it is written for host API 0, this host has 1; upgrade the plugin"),
        ("1", "its `host_api` must be a number, such as 1, not '1'"),
    ],
)
def test_another_version_of_the_hooks_is_refused_with_advice(version: Any, cause: str) -> None:
    problem = sole_problem(type("Sample", (Plugin,), {"host_api": version}))
    assert (problem.stage, problem.message) == ("import", cause)


def test_a_module_says_its_version_of_the_hooks_as_well() -> None:
    module = ModuleType("sample")
    module.host_api = 3  # type: ignore[attr-defined]
    assert "host API 3" in sole_problem(module).message


class Open(BaseModel):
    """A model that lets unknown keys pass."""


class Faulty(PluginConfig):
    """A model whose own code fails."""

    size: int = 1

    @field_validator("size")
    @classmethod
    def fail(cls, value: int) -> int:
        raise LookupError(f"for {value}")


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (5, "its `Config` is not a model; it must be a subclass of pegboard.PluginConfig"),
        (dict, "its `Config` is not a model; it must be a subclass of pegboard.PluginConfig"),
        (Open, "its `Config` accepts unknown keys; it must be a subclass of pegboard.PluginConfig"),
        (Faulty, "LookupError: for 2"),
        (Settings, 'given by the program: plugins.sample.size: expected an integer, found text "x"'),
        (None, "given by the program: plugins.sample.size: takes no settings"),
    ],
)
def test_settings_that_cannot_be_used_are_a_reason(model: Any, cause: str) -> None:
    given = {"plugins": {"sample": {"size": "x" if model is Settings else 2}}}
    problem = sole_problem(type("Sample", (Plugin,), {"Config": model}), given)
    assert problem.stage == "config"
    assert problem.message.startswith(cause)


def test_each_wrong_setting_is_a_reason_of_its_own() -> None:
    given = {"plugins": {"labour": {"size": "x", "colour": 1}}}
    report = loaded({"labour": Worker}, config=given)
    assert [problem.message.split(": ")[1] for problem in report.problems] == [
        "plugins.labour.size",
        "plugins.labour.colour",
    ]


@pytest.mark.parametrize("hook", ["register_prompts", "register_transports"])
def test_a_plugin_that_fails_late_leaves_nothing_behind(hook: str) -> None:
    def crash(self: Plugin) -> list[Any]:
        raise RuntimeError("late")

    late = type("Late", (Worker,), {hook: hookimpl(crash)})
    problem = sole_problem(late)
    assert (problem.stage, problem.message) == ("contribute", "RuntimeError: late")
    host = Host({"host": NOTHING_INSTALLED}, plugins={"late": late, "labour": Worker})
    assert list(host.load().tools) == ["work_1"]


def test_a_generator_that_breaks_off_is_the_plugins_failure() -> None:
    class Sample(Plugin):
        @hookimpl
        def register_tools(self) -> Any:
            yield ToolDefinition(work)
            raise RuntimeError("after the first")

    problem = sole_problem(Sample)
    assert (problem.stage, problem.message) == ("contribute", "RuntimeError: after the first")


def test_a_plugin_that_cannot_be_compared_or_looked_into_harms_no_other() -> None:
    class Hostile(Plugin):
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("equal to nothing")

        def __dir__(self) -> list[str]:
            raise RuntimeError("nothing to see")

    assert sole_problem(Hostile).stage == "hooks"


def test_the_story_is_in_the_log_for_those_who_ask(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "pegboard.loading.loader"):
        loaded({"sample": raising(ValueError("told"))})
    (record,) = [record for record in caplog.records if record.exc_info]
    assert "plugin 'sample'" in record.getMessage()
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "told"


def test_a_problem_tells_whose_and_where() -> None:
    problem = sole_problem(raising(ValueError("no")))
    assert (
        str(problem)
        == "plugin 'sample' (tests.host.loading.test_loader:raising.<locals>.Raising), create: ValueError: no"
    )


def test_loading_is_timed() -> None:
    (plugin,) = loaded({"labour": Worker}).plugins
    assert plugin.import_seconds > 0


# --- names


def test_a_program_may_not_take_the_name_of_a_built_in_plugin() -> None:
    given = ProgramPlugins({"mcp": Worker, "Secrets-Env": Worker}, {})
    config = HostConfig.of({"host": {"autoload": False}})
    report = load(config, None, given, context=plugin_context)
    assert [(str(problem.origin), problem.stage, problem.fatal) for problem in report.problems] == [
        ("plugin 'Secrets-Env'", "find", True),
        ("plugin 'mcp'", "find", True),
    ]


def test_a_toolkit_may_have_the_name_of_a_plugin() -> None:
    kit = Toolkit("mcp")
    report = loaded({"labour": Worker}, {"labour": kit, "mcp": kit})
    assert [(plugin.origin.kind, plugin.origin.name) for plugin in report.plugins] == [
        ("plugin", "labour"),
        ("toolkit", "labour"),
        ("toolkit", "mcp"),
    ]


def test_unknown_names_in_the_configuration_are_fatal_and_come_with_a_suggestion() -> None:
    config = {
        "host": {**NOTHING_INSTALLED, "plugins": ["labuor"], "required": ["nobody"]},
        "plugins": {"labuor": {}},
        "toolkits": {"labour": {}},
    }
    report = loaded({"labour": Worker}, config=config)
    assert all(problem.fatal and problem.stage == "config" for problem in report.problems)
    assert [problem.message.removeprefix("given by the program: ") for problem in report.problems] == [
        'plugins.labuor: no plugin of this name is installed; did you mean "labour"?',
        "toolkits.labour: no toolkit of this name is installed",
        "host.plugins[0]: nothing of this name is installed: 'labuor'; did you mean \"labour\"?",
        "host.required[0]: nothing of this name is installed: 'nobody'",
    ]


def test_what_is_required_must_not_be_disabled() -> None:
    host = {**NOTHING_INSTALLED, "required": ["labour"], "disabled_toolkits": ["lab*"]}
    report = loaded(toolkits={"labour": Toolkit("labour")}, config={"host": host})
    (problem,) = report.problems
    assert problem.fatal
    assert "'labour' is required, but disabled by 'lab*' in [host] disabled_toolkits" in problem.message


def test_what_is_required_may_be_left_out_on_the_command_line() -> None:
    host = {**NOTHING_INSTALLED, "required": ["left"]}
    kits = {name: Toolkit(name) for name in ("left", "right")}
    report = loaded(toolkits=kits, config={"host": host}, selection=Selection(only=("right",)))
    assert [plugin.origin.name for plugin in report.plugins] == ["right"]
    assert report.problems == ()


def test_patterns_that_disable_nothing_are_warnings() -> None:
    host = {**NOTHING_INSTALLED, "disabled_toolkits": ["labuor", "nobody*"]}
    report = loaded(toolkits={"labour": Toolkit("labour")}, config={"host": host})
    assert [(problem.level, problem.fatal) for problem in report.problems] == [("warning", False)] * 2
    assert 'did you mean "labour"?' in report.problems[0].message


@pytest.fixture
def broken_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A toolkit that is installed and cannot be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    make_distribution(tmp_path, "acme", "1", {"pegboard.toolkits": {"acme_broken": "acme_is_not_there:kit"}}, {})


@pytest.mark.usefixtures("broken_kit")
@pytest.mark.parametrize(
    ("selection", "config", "fatal"),
    [
        (Selection(), {}, False),
        (Selection(strict=True), {}, True),
        (Selection(), {"toolkits": {"acme_broken": {}}}, True),
        (Selection(only=("acme_broken",)), {}, True),
        (Selection(only=("acme_b*",)), {}, False),
    ],
    ids=["found", "strict", "a section", "only", "only by a glob"],
)
def test_the_failure_of_what_was_found_is_fatal_when_it_was_named_or_with_strict(
    selection: Selection, config: dict[str, Any], fatal: bool
) -> None:
    host = {"disabled_plugins": ["pegboard:*"]}
    report = load(HostConfig.of({"host": host, **config}), selection, context=plugin_context)
    (problem,) = [problem for problem in report.problems if problem.origin and problem.origin.name == "acme_broken"]
    assert (problem.stage, problem.fatal) == ("import", fatal)
    assert problem.message == "ModuleNotFoundError: No module named 'acme_is_not_there'"


def test_what_cannot_be_found_out_is_fatal_with_strict_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    info = make_distribution(tmp_path, "acme", "1", {}, {})
    (info / "entry_points.txt").write_text("[pegboard.toolkits]\nno equals sign\n")
    for strict in (False, True):
        (problem,) = loaded(selection=Selection(strict=strict)).problems
        assert "the entry points of acme 1 cannot be read" in problem.message
        assert problem.fatal is strict


def test_safe_asks_for_no_name_that_is_not_built_in() -> None:
    config = {
        "host": {"plugins": ["gone"], "required": ["gone"], "disabled_toolkits": ["gone"]},
        "plugins": {"gone": {}},
        "toolkits": {"gone": {}},
    }
    selection = Selection(safe=True, only=("gone",))
    report = load(HostConfig.of(config, defaults=defaults()), selection, context=plugin_context)
    assert report.problems == ()
    assert "mcp" in [plugin.origin.name for plugin in report.plugins]


def test_only_names_what_there_is() -> None:
    kits = {name: Toolkit(name) for name in ("left", "right")}
    report = loaded(toolkits=kits, selection=Selection(only=("left",)))
    assert [plugin.origin.name for plugin in report.plugins] == ["left"]
    assert report.problems == ()
    absent = loaded(toolkits=kits, selection=Selection(only=("left", "lfet", "z*")))
    assert [problem.message for problem in absent.problems] == [
        "--only: no installed toolkit is called 'lfet'; did you mean 'left'?",
        "--only: no installed toolkit is called 'z*'",
    ]
    assert all(problem.fatal for problem in absent.problems)
