"""`Image`, `Audio` and `File`."""

from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.media import Audio, File, Image

__all__ = ["Audio", "File", "Image"]

__getattr__ = missing_names(__name__)
