"""From entry points to plugins that are configured, registered and asked what they contribute, or to a reason why not.

A plugin that fails costs itself alone, whole: nothing of it stays behind. `Exception` and `SystemExit` are the plugin's
failure, `KeyboardInterrupt` is the operator's.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import pluggy

from pegboard import hookspecs
from pegboard.config import HostConfig, unknown_sections, validate_section
from pegboard.contracts import Plugin, PluginContext
from pegboard.discovery import OWN_DISTRIBUTION, Given, Selection, choose, find
from pegboard.errors import PluginError
from pegboard.hook_rules import HOOKS, check_hooks, contributions
from pegboard.names import nearest
from pegboard.plugins import SECTIONS, Choice, Loaded, LoadReport, Origin, Problem
from pegboard.process_guard import watched
from pegboard.toolkit import Toolkit

logger = logging.getLogger("pegboard.loader")


class _StageError(Exception):
    """A plugin failed at a stage; the message is for the operator."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


def load(config: HostConfig, selection: Selection | None = None, given: Given | None = None) -> LoadReport:
    """Load every plugin that is to run.

    Failures never raise: they are in the report, and `fatal` where the operator named the plugin, where `--strict`
    asks for it, and where configuration is wrong.
    """
    return _Loader(config, selection or Selection()).load(find(given))


class _Loader:
    def __init__(self, config: HostConfig, selection: Selection) -> None:
        self.config = config
        self.selection = selection
        self.manager = pluggy.PluginManager("pegboard")
        self.manager.add_hookspecs(hookspecs)
        self.problems: list[Problem] = []

    def load(self, origins: Sequence[Origin]) -> LoadReport:
        choices = choose(self.without_impostors(origins), self.config, self.selection)
        running = [choice for choice in choices if choice.on]
        twice = self.report_duplicates(running)
        if not self.selection.safe:
            self.report_unknown_names(origins)
        plugins = [self.attempt(choice) for choice in running if (choice.origin.kind, choice.origin.name) not in twice]
        return LoadReport(tuple(choices), tuple(plugin for plugin in plugins if plugin), tuple(self.problems))

    # --- which ---

    def without_impostors(self, origins: Sequence[Origin]) -> list[Origin]:
        """Without those of a foreign distribution that bear a built-in plugin's name."""
        own = {origin.name for origin in origins if origin.distribution == OWN_DISTRIBUTION}
        kept = []
        for origin in origins:
            if origin.kind == "plugin" and origin.name in own and origin.distribution != OWN_DISTRIBUTION:
                self.report(origin, "find", "this is the name of a built-in plugin; it is refused")
            else:
                kept.append(origin)
        return kept

    def report_duplicates(self, running: Iterable[Choice]) -> set[tuple[str, str]]:
        seen: dict[tuple[str, str], list[Origin]] = {}
        for choice in running:
            seen.setdefault((choice.origin.kind, choice.origin.name), []).append(choice.origin)
        twice = {key: origins for key, origins in seen.items() if len(origins) > 1}
        for (kind, name), origins in twice.items():
            sources = " and ".join(origin.distribution or "the program" for origin in origins)
            message = (
                f"{sources} both bring a {kind} called {name!r}; disable one: "
                f'[host] disabled_{kind}s = ["{origins[-1].distribution}:{name}"]'
            )
            self.problems.append(Problem("find", message, fatal=True))
        return set(twice)

    def report_unknown_names(self, origins: Sequence[Origin]) -> None:
        for kind in ("plugins", "toolkits"):
            known = [origin.name for origin in origins if f"{origin.kind}s" == kind]
            self.problems += [
                Problem("config", str(problem), fatal=True) for problem in unknown_sections(self.config, kind, known)
            ]
        names = {origin.name for origin in origins}
        for key in ("plugins", "required"):
            for name in getattr(self.config.host, key):
                if name not in names:
                    close = nearest(name, names)
                    hint = f'; did you mean "{close}"?' if close else ""
                    self.problems.append(
                        Problem("config", f"[host] {key}: nothing installed is called {name!r}{hint}", fatal=True)
                    )

    # --- one plugin ---

    def attempt(self, choice: Choice) -> Loaded | None:
        """Load one plugin whole, or report why not and leave nothing of it behind."""
        origin = choice.origin
        changed: list[str] = []
        loaded = None
        try:
            with watched(str(origin), changed):
                loaded = self.load_one(origin)
        except _StageError as error:
            self.report(origin, error.stage, str(error), named=choice.named)
        for what in changed:
            self.problems.append(
                Problem("process", f"it changed {what} of the process while it was loaded", origin, level="warning")
            )
        return loaded

    def load_one(self, origin: Origin) -> Loaded:
        started = time.perf_counter()
        logger.debug("loading %s (%s)", origin, origin.target)
        target = _guarded("import", self.target, origin)
        _check_target(target)
        config = self.configured(origin, target)
        instance = _guarded("config", target, config) if inspect.isclass(target) else target
        name = f"{origin.kind}:{origin.name}"
        try:
            impls = check_hooks(self.manager, instance, name)
            context = PluginContext(origin.name, config, logging.getLogger(f"pegboard.{origin.kind}s.{origin.name}"))
            loaded = Loaded(origin, instance, context)
            for hook, function, parameters in impls:
                gathered = _guarded("contribute", contributions, hook, function, parameters, context)
                getattr(loaded, HOOKS[hook].field).extend(gathered)
        except PluginError as error:
            self.forget(instance)
            raise _StageError("hooks", str(error)) from None
        except _StageError:
            self.forget(instance)
            raise
        loaded.import_seconds = time.perf_counter() - started
        return loaded

    def target(self, origin: Origin) -> Any:
        return origin.given if origin.entry_point is None else origin.entry_point.load()

    def configured(self, origin: Origin, target: Any) -> Any:
        """The plugin's validated settings."""
        kind = SECTIONS[origin.kind]
        model = getattr(target, "Config", None)
        if model is None and getattr(self.config, kind).get(origin.name):
            raise _StageError("config", f"[{kind}.{origin.name}] has settings, but this {origin.kind} takes none")
        if model is None:
            return None
        result = validate_section(self.config, kind, origin.name, model)
        if isinstance(result, list):
            self.problems += [Problem("config", str(problem), fatal=True) for problem in result]
            raise _StageError("config", "its settings are wrong")
        return result

    def forget(self, instance: object) -> None:
        if self.manager.is_registered(instance):
            self.manager.unregister(instance)

    def report(self, origin: Origin, stage: str, message: str, *, named: bool = False) -> None:
        self.problems.append(Problem(stage, message, origin, fatal=named or self.selection.strict))


def _guarded(stage: str, function: Any, *arguments: Any) -> Any:
    """Call into a plugin; whatever it raises, but for the operator's Ctrl-C, is told in one line."""
    try:
        return function(*arguments)
    except (KeyboardInterrupt, PluginError, _StageError):
        raise
    except BaseException as error:
        logger.debug("the plugin failed", exc_info=True)
        text = " ".join(str(error).split())
        raise _StageError(stage, f"{type(error).__name__}: {text}" if text else type(error).__name__) from error


def _check_target(target: Any) -> None:
    if inspect.isclass(target):
        fits = issubclass(target, Plugin)
    else:
        fits = isinstance(target, (ModuleType, Toolkit, Plugin))
    if not fits:
        raise _StageError("import", "the target must be a Plugin subclass, a module with hooks, or a Toolkit")
    wanted = getattr(target, "host_api", hookspecs.HOST_API)
    if wanted != hookspecs.HOST_API:
        advice = "upgrade pegboard" if wanted > hookspecs.HOST_API else "upgrade the plugin"
        raise _StageError(
            "import", f"it is written for host API {wanted}, this host has {hookspecs.HOST_API}; {advice}"
        )
