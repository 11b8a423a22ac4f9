"""Configuration: `hostconfig.toml`, the environment and the command line as one `HostConfig`.

Nothing is started or loaded here.
"""

from pegboard.config.hostconfig import HostConfig
from pegboard.config.models import HostSection, PluginConfig
from pegboard.config.problems import ConfigProblem
from pegboard.config.secrets import SecretRef
from pegboard.config.show import ConfigView, config_show
from pegboard.config.sources import Source
from pegboard.config.validation import unknown_sections, unmatched_patterns, validate_section

__all__ = [
    "ConfigProblem",
    "ConfigView",
    "HostConfig",
    "HostSection",
    "PluginConfig",
    "SecretRef",
    "Source",
    "config_show",
    "unknown_sections",
    "unmatched_patterns",
    "validate_section",
]
