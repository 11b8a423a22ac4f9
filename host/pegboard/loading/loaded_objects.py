"""Checks of the objects that entry points name, and their own version and description."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from pegboard import hookspecs
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.names import normal_version
from pegboard.plugin.base import Plugin


def own_version_of(instance: object) -> str | None:
    """Return the toolkit's own version, or else the version of its distribution."""
    if not isinstance(instance, ToolkitBase) or instance.version is None:
        return None
    try:
        return normal_version(instance.version)
    except ValueError as error:
        raise PluginError(f"its version: {error}") from None


def own_description(instance: object) -> str | None:
    """Return the description of a toolkit."""
    description: object = instance.description if isinstance(instance, ToolkitBase) else None
    if description is None:
        return None
    if not isinstance(description, str):
        raise PluginError(f"its description must be a string, not {type(description).__name__}")
    if not (description.isascii() and description.isprintable()):
        from pegboard.messages.texts import complaint  # few descriptions need it

        if fault := complaint(description):
            raise PluginError(f"its description {fault}")
    return inspect.cleandoc(description) or None


def check_target(target: Any) -> None:
    """Raise an error if an object is neither a plugin nor a toolkit, or needs another host.

    Raises:
        PluginError: the object is not accepted.
    """
    is_plugin = inspect.isclass(target) and issubclass(target, Plugin)
    if not (is_plugin or isinstance(target, ModuleType | ToolkitBase | Plugin)):
        raise PluginError("the target must be a Plugin subclass, a module with hooks, or a Toolkit")
    wanted = getattr(target, "host_api", hookspecs.HOST_API)
    if not isinstance(wanted, int):
        raise PluginError(f"its `host_api` must be a number, such as {hookspecs.HOST_API}, not {wanted!r}")
    if wanted != hookspecs.HOST_API:
        advice = "upgrade pegboard" if wanted > hookspecs.HOST_API else "upgrade the plugin"
        raise PluginError(f"the plugin requires host API {wanted}, this host has {hookspecs.HOST_API}: {advice}")
