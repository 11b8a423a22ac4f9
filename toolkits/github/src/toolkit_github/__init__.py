"""toolkit-github: tools over GitHub's REST API. This module is the public API and nothing else."""

from toolkit_github.config import GithubConfig
from toolkit_github.kit import kit
from toolkit_github.tools import account, actions, changing, files, issues, pulls, releases, repositories, reviews

__all__ = ["GithubConfig", "kit"]

_TOOLS = (account, actions, changing, files, issues, pulls, releases, repositories, reviews)
"""The imported modules, which register their tools in the kit."""
