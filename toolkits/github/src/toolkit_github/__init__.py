"""toolkit-github: tools over GitHub's REST API. This module is the public API and nothing else."""

from toolkit_github.config import GithubConfig
from toolkit_github.kit import kit

__all__ = ["GithubConfig", "kit"]
