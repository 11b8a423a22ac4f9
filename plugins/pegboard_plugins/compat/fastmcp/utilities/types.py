"""`Image`, `Audio` and `File`."""

from pegboard_plugins.compat.fastmcp.elsewhere import PLACES
from pegboard_plugins.compat.fastmcp.media import Audio, File, Image
from pegboard_plugins.compat.missing import missing_names

__all__ = ["Audio", "File", "Image"]

__getattr__ = missing_names(__name__, PLACES)
