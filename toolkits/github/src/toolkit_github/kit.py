"""The toolkit itself, and what its tools have in common."""

from pegboard import Toolkit
from toolkit_github.config import GithubConfig

__all__ = ["kit"]

kit = Toolkit(
    "github",
    config=GithubConfig,
    title="GitHub",
    description="Repositories, issues, pull requests, files, workflow runs and releases of GitHub; "
    "changes are made once that is allowed.",
)
