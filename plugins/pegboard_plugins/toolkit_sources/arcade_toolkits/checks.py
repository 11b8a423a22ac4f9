"""The check that names installed toolkits of the Arcade system, for `pegboard list` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard.plugin import CommandContext, Finding
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import installed_toolkits


def check_unserved(command: CommandContext) -> Iterator[Finding]:
    """Report the installed toolkits if the plugin that serves them is not enabled, with the lines that enable it."""
    origins = [plugin.origin for plugin in command.host.report.plugins]
    if any((origin.kind, origin.name) == ("plugin", "arcade") for origin in origins):
        return
    served = {origin.distribution for origin in origins}
    if names := [toolkit.name for toolkit in installed_toolkits() if toolkit.distribution.name not in served]:
        number = "1 installed toolkit" if len(names) == 1 else f"{len(names)} installed toolkits"
        quoted = ", ".join(f'"{name}"' for name in names)
        yield Finding(
            "warning",
            f"{number} of the Arcade system {'is' if len(names) == 1 else 'are'} not served",
            f"to serve them, add the lines `[plugins.arcade]` and `names = [{quoted}]` to hostconfig.toml",
        )
