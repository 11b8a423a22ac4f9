"""Settings that widen access, of a starting host or of a file that is not trusted yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from pegboard.config import HostConfig
from pegboard.config.problems import toml_value
from pegboard.config.widened_access import AccessSetting, access_settings, unread_settings
from pegboard.hookspecs import register_secret_stores
from pegboard.host import Host
from pegboard.loading.discovery import Selection, choose_plugins, find_plugins, is_built_in
from pegboard.loading.plugins import SECTION_OF_KIND, LoadedPlugin, PluginChoice, contributions_of
from pegboard.plugin.origin import Origin

_Value = TypeVar("_Value")
_MAX_VALUE_CHARACTERS = 200
"""The maximum number of characters logged of a value."""
ABILITIES = {
    "register_middleware": "sees and changes every call",
    "register_protocols": "reads every message",
    "register_transports": "connects clients",
    "register_authenticators": "admits callers",
    "register_routes": "serves HTTP routes",
    "register_methods": "adds methods",
    "register_tools": "adds tools",
    "register_resources": "adds resources",
    "register_prompts": "adds prompts",
    "register_folders": "adds files",
    "register_toolkits": "adds toolkits",
    "register_toolkit_loaders": "loads toolkits",
    "register_definition_checks": "rejects definitions",
    "register_secret_stores": "supplies secrets",
    "register_token_sources": "supplies tokens",
    "register_auth_providers": "describes providers of tokens",
    "register_error_adapters": "reads the errors of tools",
    "register_stores": "keeps sessions or events",
    "register_telemetry": "observes calls",
    "lifespan": "runs with the host",
}
"""The ability that contributions to a hook give a plugin."""


def by_section(values: Iterable[tuple[Origin, _Value]]) -> dict[str, dict[str, _Value]]:
    """Return the values of plugins and toolkits by section and name."""
    sections: dict[str, dict[str, _Value]] = {section: {} for section in SECTION_OF_KIND.values()}
    for origin, value in values:
        sections[SECTION_OF_KIND[origin.kind]][origin.name] = value
    return sections


def access_of(host: Host) -> list[AccessSetting]:
    """Return the settings of a loaded host that widen access."""
    settings = ((plugin.origin, plugin.context.config) for plugin in host.report.plugins)
    models = by_section((origin, None if config is None else type(config)) for origin, config in settings)
    late = [plugin.origin.name for plugin in host.report.plugins if plugin.is_late]
    unread = (setting for name in late for setting in unread_settings(host.config, name))
    return [*access_settings(host.config, models), *unread]


def third_party_line(host: Host) -> str:
    """Return the third-party plugins of a loaded host, each with what its contributions can do; "" without any."""
    plugins = [(plugin.origin, _abilities(plugin)) for plugin in host.report.plugins if _is_third_party(plugin.origin)]
    return ", ".join(f"{own.name} of {own.distribution} {own.version} ({abilities})" for own, abilities in plugins)


def _abilities(plugin: LoadedPlugin) -> str:
    abilities = [ability for hook, ability in ABILITIES.items() if plugin.contributions.get(hook)]
    return ", ".join(abilities) or "contributes nothing"


def _is_third_party(origin: Origin) -> bool:
    return origin.kind == "plugin" and origin.entry_point is not None and not is_built_in(origin)


def files_read(host: Host) -> list[str]:
    """Return the files that a loaded host has read: its configuration and files of secrets."""
    stores = [store for _, store in contributions_of(host.report.plugins, register_secret_stores)]
    read = [file for store in stores for file in store.files_read]
    return [str(host.config.file or "no configuration file"), *read]


def access_of_file(config: HostConfig) -> list[AccessSetting]:
    """Return the settings of a configuration that would widen access. Third-party plugins are listed, not imported."""
    choices = choose_plugins(find_plugins().origins, config, Selection())
    imported = (choice for choice in choices if choice.on and not _is_third_party(choice.origin))
    models = by_section((choice.origin, _model(choice)) for choice in imported)
    return [*_third_party(choices, config), *access_settings(config, models)]


def known_models(config: HostConfig) -> dict[str, dict[str, type | None]]:
    """Return the models of installed plugins and toolkits, or None for those without settings.

    Code that the configuration does not enable is not imported, except built-in plugins. The model of code that
    is not imported is empty, and accepts every key.
    """
    from pegboard.config.file_schema import AnySettings  # starting servers do not need it

    choices = choose_plugins(find_plugins().origins, config, Selection())
    return by_section(
        (choice.origin, _model(choice) if choice.on or is_built_in(choice.origin) else AnySettings)
        for choice in choices
    )


def _model(choice: PluginChoice) -> type | None:
    try:
        return getattr(choice.origin.entry_point and choice.origin.entry_point.load(), "Config", None)
    except (Exception, SystemExit):  # noqa: BLE001 - the host reports it when it starts
        return None


def _third_party(choices: Iterable[PluginChoice], config: HostConfig) -> Iterator[AccessSetting]:
    for choice in choices:
        origin = choice.origin
        if choice.on and _is_third_party(origin):
            source = config.sources.around((SECTION_OF_KIND[origin.kind], origin.name))
            access = f"runs code of {origin.distribution} in the host"
            yield AccessSetting(f"{SECTION_OF_KIND[origin.kind]}.{origin.name}", True, access, str(source))


def setting_lines(settings: Sequence[AccessSetting]) -> list[str]:
    """Return one line for each setting. Nothing is cut, because a person decides about the settings."""
    return [f"{setting.key} = {toml_value(setting.value)}  ({setting.access})" for setting in settings]


def settings_line(settings: Sequence[AccessSetting]) -> str:
    """Return all settings in one line."""
    return "; ".join(
        f"{setting.key} = {_shortened(setting.value)} ({setting.access}, {setting.source})" for setting in settings
    )


def _shortened(value: object) -> str:
    """Return a value as TOML on one line. Long values are cut."""
    text = toml_value(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[:_MAX_VALUE_CHARACTERS]}..."
