"""Configuration: `hostconfig.toml`, the environment and the command line as one `HostConfig`.

No plugin is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pegboard.config.hostconfig import HostConfig
from pegboard.config.models import HostSection, PluginConfig, WidensAccess
from pegboard.config.problems import ConfigProblem
from pegboard.config.references import SecretRef
from pegboard.config.sections import unknown_sections, unmatched_patterns, validate_section
from pegboard.config.sources import Layer, Source

if TYPE_CHECKING:
    from pegboard.config.show import ConfigView, config_show

__all__ = [
    "ConfigProblem",
    "ConfigView",
    "HostConfig",
    "HostSection",
    "Layer",
    "PluginConfig",
    "SecretRef",
    "Source",
    "WidensAccess",
    "config_show",
    "unknown_sections",
    "unmatched_patterns",
    "validate_section",
]


def __getattr__(name: str) -> Any:
    """Import rarely needed names on first use (PEP 562)."""
    if name in ("ConfigView", "config_show"):
        from pegboard.config import show

        return getattr(show, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
