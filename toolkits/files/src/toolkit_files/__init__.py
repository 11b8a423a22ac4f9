"""toolkit-files: tools for the files below configured directories. This module is the public API and nothing else."""

from toolkit_files import tools
from toolkit_files.config import FilesConfig
from toolkit_files.kit import kit

__all__ = ["FilesConfig", "kit", "tools"]
