"""Written for hooks that this host does not have yet."""

from pegboard.plugin import Plugin


class FuturePlugin(Plugin):
    """Of the future."""

    host_api = 99
