"""Configuration: `hostconfig.toml`, the environment and the command line as one `HostConfig`.

No plugin is loaded.
"""

from __future__ import annotations

from pegboard.config.hostconfig import HostConfig
from pegboard.config.models import HostSection, PluginConfig, SharedKeys, StoreName, WidensAccess
from pegboard.config.problems import ConfigProblem
from pegboard.config.references import SecretRef
from pegboard.config.sections import unknown_sections, unmatched_patterns, validate_section
from pegboard.config.sources import Layer, Source

__all__ = [
    "ConfigProblem",
    "HostConfig",
    "HostSection",
    "Layer",
    "PluginConfig",
    "SecretRef",
    "SharedKeys",
    "Source",
    "StoreName",
    "WidensAccess",
    "unknown_sections",
    "unmatched_patterns",
    "validate_section",
]
