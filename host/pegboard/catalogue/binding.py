"""The binding of one definition to a host: its name, its secrets, and whether it is served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.authorization.providers import refusal_reason
from pegboard.authorization.tool_authorization import described_requirements
from pegboard.calls.deprecation import Deprecation
from pegboard.calls.execute import BoundTool
from pegboard.catalogue.bound_definitions import BindResult, BoundDefinition, Definition, Edits, Unserved
from pegboard.catalogue.error_chain import ErrorChain
from pegboard.catalogue.extensions import collect_contributions, default_mime_type, describe_item, without_unused
from pegboard.catalogue.shown_texts import hidden_text_allowed
from pegboard.catalogue.tool_compiler import compile_tool, own_name
from pegboard.catalogue.tool_requirements import RequirementBinder, each_once
from pegboard.catalogue.toolkits import name_in, spelt, toolkit_of
from pegboard.config import ConfigProblem, HostConfig
from pegboard.context.bound_function import PluginData
from pegboard.errors import ToolDefinitionError
from pegboard.errors.attempts import attempt
from pegboard.hookspecs import (
    register_definition_checks,
    register_protocols,
    register_secret_stores,
    register_token_sources,
)
from pegboard.loading.plugin_facts import reserved_secrets
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, PluginChoice, contributions_of
from pegboard.names import matching_pattern
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.methods import Contributions
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore
from pegboard.secrets.redaction import Redactor
from pegboard.secrets.secret_lookup import SecretStores
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import Resource, Tool

if TYPE_CHECKING:
    from pegboard.calls.prompt import BoundPrompt
    from pegboard.calls.resource import BoundResource
    from pegboard.catalogue.item_checks import ItemChecks
    from pegboard.catalogue.tool_settings import ChangedTools

Listed = TypeVar("Listed", Tool, Resource)
BoundContent = TypeVar("BoundContent", "BoundResource", "BoundPrompt")


class Binder:
    """Binds the definitions of one host.

    Args:
        config: names, disabled tools, and the policy for missing secrets.
        plugins: the loaded plugins, sorted by name.
        choices: all installed plugins and whether each is enabled.
        redactor: masks secrets. None creates a new redactor.

    Attributes:
        errors: the order of error adapters.
        secrets: the secret stores.
        known_tags: the tags of all items, including unserved items.
        known_forms: a set that collects the spellings of all tools, including unserved tools. None to collect nothing.
        changed_tools: the operator's changes of tools, or None for none.
        edits: the changes that plugins have made at run time, which a reload keeps.
        accepts_hidden_text: True to accept invisible characters. The definitions must not be served to clients.
        problems: problems that do not belong to a single definition. The reader must clear the list.
    """

    def __init__(
        self,
        config: HostConfig,
        plugins: Sequence[LoadedPlugin],
        choices: Sequence[PluginChoice] = (),
        redactor: Redactor | None = None,
    ) -> None:
        self.known_forms: set[str] | None = set()
        self.known_tags: set[str] = set()
        self.problems: list[LoadProblem] = []
        self.edits: Edits = {}
        self.accepts_hidden_text = False
        self._config = config
        self.redactor = redactor or Redactor()
        settings = [plugin.context.config for plugin in plugins]
        stores = secret_stores(config, plugins)
        self.secrets = SecretStores(stores, settings, self._report, self.redactor, reserved_secrets())
        self._additions = collect_contributions(plugins, self._report)
        self._checks: ItemChecks | None = None
        if any(plugin.contributed(register_definition_checks) for plugin in plugins):
            from pegboard.catalogue.item_checks import ItemChecks

            self._checks = ItemChecks(plugins)
        self._tool_checks = [protocol.check_tool for _, protocol in contributions_of(plugins, register_protocols)]
        self._users: set[str] = set()
        self.changed_tools: ChangedTools | None = None
        if config.host.tools:
            from pegboard.catalogue.tool_settings import ChangedTools

            self.changed_tools = ChangedTools(config)
        self._plugins = plugins
        self._requirements = RequirementBinder(config, plugins, choices, self.secrets, self._report)
        self.errors = ErrorChain(plugins, config.host.error_adapters)

    def bind(self, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]) -> BindResult:
        """Bind a plugin's definition to this host and return the result.

        Args:
            plugin: the plugin.
            definition: the definition.
            resources: the resources that tools may refer to.

        Raises:
            ToolDefinitionError: the definition is invalid.
        """
        if self.accepts_hidden_text:
            with hidden_text_allowed():
                return self._bound(plugin, definition, resources)
        return self._bound(plugin, definition, resources)

    def _bound(self, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]) -> BindResult:
        if plugin.is_late and isinstance(definition, ToolDefinition):
            result = attempt(self._late, plugin, definition)  # its file may be damaged
            return result if self._checks is None else self._checks.checked(result)
        if definition.raw is not None:
            from pegboard.catalogue.raw_definitions import with_raw_texts

            definition = with_raw_texts(definition)
        if isinstance(definition, ToolDefinition):
            result = attempt(self._tool, plugin, definition, resources)
        elif isinstance(definition, ResourceDefinition):
            result = attempt(self._resource, plugin, definition)
        else:
            result = attempt(self._prompt, plugin, definition)
        return result if self._checks is None else self._checks.checked(result)

    def wire_name(self, plugin: LoadedPlugin, definition: ToolDefinition) -> str:
        """Return the name on the wire of a definition that may be invalid. Return "" if it has none."""
        try:
            return name_in(toolkit_of(plugin, definition), attempt(own_name, definition), self._config.host.tool_names)
        except ToolDefinitionError:
            return ""

    def check_secrets(self, bound: BoundDefinition) -> None:
        """Raise an error if a definition would show a declared secret to clients.

        Raises:
            ToolDefinitionError: the definition shows a secret.
        """
        if secrets := self.secrets.known:
            from pegboard.secrets.leaks import check_secrets

            check_secrets(bound.shown, secrets)

    def may_show_secrets(self, definitions: Iterable[BoundDefinition]) -> bool:
        """Return False if `check_secrets` accepts all of these definitions."""
        if not (secrets := self.secrets.known):
            return False
        from pegboard.secrets.leaks import may_show

        return may_show((definition.shown for definition in definitions), secrets)

    def contributed(self) -> Contributions:
        """Return the protocol additions of plugins, without extensions that no definition uses."""
        return without_unused(self._additions, self._users)

    def _report(self, origin: Origin, message: str) -> None:
        self.problems.append(LoadProblem("assemble", message, origin))

    def _described(
        self, item: Listed, definition: ToolDefinition | ResourceDefinition, resources: Mapping[str, Resource] = EMPTY
    ) -> Listed:
        """Return a copy of a tool or resource with the extensions' `_meta` entries.

        Raises:
            ToolDefinitionError: an extension rejects the tool or resource.
        """
        meta, extensions = describe_item(item, definition.extensions, self._additions, resources)
        self._users |= extensions
        return item._replace(meta={**(item.meta or {}), **meta}) if meta else item

    def _tool(self, plugin: LoadedPlugin, definition: ToolDefinition, resources: Mapping[str, Resource]) -> BindResult:
        toolkit, own = toolkit_of(plugin, definition), own_name(definition)
        forms = spelt(toolkit, own, named=definition.toolkit is not None)[1]
        if self.known_forms is not None:
            self.known_forms |= forms
        if self.changed_tools is None:
            return self._compiled(plugin, definition, resources, forms)
        result = self.changed_tools.bound(
            definition, forms, lambda changed: attempt(self._compiled, plugin, changed, resources, forms)
        )
        if isinstance(result, ConfigProblem):
            self.problems.append(LoadProblem("config", f"{result}; the tool is not served"))
            name = name_in(toolkit, own, self._config.host.tool_names)
            return Unserved("tools", name, plugin.origin.name, str(result))
        return result

    def _late(self, plugin: LoadedPlugin, definition: ToolDefinition) -> BindResult:
        """Bind a tool of a toolkit that is imported later."""
        from pegboard.catalogue.late_tools import late_tool

        toolkit, name = toolkit_of(plugin), str(definition.name)
        last, forms = spelt(toolkit, name, named=False)
        if self.known_forms is not None:
            self.known_forms |= forms
        if withheld := self._withheld(plugin, definition, name, forms):
            return withheld
        required = self._requirements.bind(definition)
        definition = definition._replace(name=last)
        tool, signature, function = late_tool(definition, name, toolkit, required.declared)
        bound = BoundTool(tool, function, signature, self._owner(plugin), required.checked, 0, 0)
        missing, token = required.missing, required.missing_token
        return BoundDefinition("tools", name, plugin.origin, bound, forms, missing, missing_token=token)

    def _compiled(
        self,
        plugin: LoadedPlugin,
        definition: ToolDefinition,
        resources: Mapping[str, Resource],
        former: frozenset[str],
    ) -> BindResult:
        """Bind a tool. `former` has the spellings of its name before the operator's changes."""
        toolkit, own = toolkit_of(plugin, definition), own_name(definition)
        last, forms = spelt(toolkit, own, named=definition.toolkit is not None)
        forms |= former
        name = name_in(toolkit, own, self._config.host.tool_names)
        if withheld := self._withheld(plugin, definition, name, forms):
            return withheld
        host = self._config.host
        tool, signature, function = compile_tool(
            definition._replace(name=last), name, toolkit.name, toolkit.version, host.schema_references
        )
        tool = self._described(tool, definition, resources)
        required = self._requirements.bind(definition)
        if definition.requires_auth is not None or definition.scopes:
            tool = tool._replace(meta={**(tool.meta or {}), **described_requirements(definition)})
        tool = tool._replace(requires=required.declared, owner_description=toolkit.description)
        for check in self._tool_checks:
            check(tool)
        bound = BoundTool(
            tool,
            function,
            signature,
            self._owner(plugin),
            required.checked,
            host.tool_timeout if definition.timeout is None else definition.timeout,
            host.max_result_bytes if definition.max_result is None else definition.max_result,
            self.errors.of(definition.adapters, required.provider),
            Deprecation(name, tool.deprecated) if tool.deprecated else None,
        )
        missing, token = required.missing, required.missing_token
        return BoundDefinition("tools", name, plugin.origin, bound, forms, missing, missing_token=token)

    def _resource(self, plugin: LoadedPlugin, definition: ResourceDefinition) -> BindResult:
        own_name(definition)
        if reason := self._why_filtered(plugin, definition):
            return Unserved("resources", definition.uri, plugin.origin.name, reason)
        if definition.mime_type is None:
            mime_type = default_mime_type(str(definition.uri), self._additions)
            definition = definition._replace(mime_type=mime_type)
        from pegboard.catalogue.content_compiler import compile_resource  # many hosts serve only tools

        resource, bound = compile_resource(definition, toolkit_of(plugin, definition).name)
        uri = definition.uri
        described = self._described(Resource(uri, resource.name, mime_type=resource.mime_type), definition)
        if described.meta:
            resource = resource._replace(meta={**(resource.meta or {}), **described.meta})
        bound = self._owned(plugin, bound)
        if definition.max_result is not None:
            bound = bound._replace(max_result_bytes=definition.max_result)
        return BoundDefinition("resources", uri, plugin.origin, (resource, bound))

    def _prompt(self, plugin: LoadedPlugin, definition: PromptDefinition) -> BindResult:
        toolkit = toolkit_of(plugin, definition)
        name = name_in(toolkit, own_name(definition), self._config.host.tool_names)
        if reason := self._why_filtered(plugin, definition):
            return Unserved("prompts", name, plugin.origin.name, reason)
        from pegboard.catalogue.content_compiler import compile_prompt  # as above

        prompt, bound = compile_prompt(definition, name, toolkit.name)
        return BoundDefinition("prompts", name, plugin.origin, (prompt, self._owned(plugin, bound)))

    def _owned(self, plugin: LoadedPlugin, bound: BoundContent) -> BoundContent:
        host = self._config.host
        return bound._replace(
            owner=self._owner(plugin),
            adapters=self.errors.common,
            timeout=host.tool_timeout,
            max_result_bytes=host.max_result_bytes,
        )

    def _owner(self, plugin: LoadedPlugin) -> PluginData:
        context = plugin.context
        return PluginData(context.config, plugin.state, self._config.host.user, context.catalogue, plugin.origin.name)

    def _withheld(
        self, plugin: LoadedPlugin, definition: ToolDefinition, name: str, forms: frozenset[str]
    ) -> Unserved | None:
        """Return a tool that the operator has disabled, hidden or not given a right. Return None for other tools."""
        disabled = self._why_disabled(plugin, definition, forms)
        refusal = "" if disabled else self._ungranted(plugin, definition)
        reason = disabled or refusal or self._why_hidden(definition)
        return Unserved("tools", name, plugin.origin.name, reason, bool(refusal)) if reason else None

    def _why_disabled(self, plugin: LoadedPlugin, definition: ToolDefinition, forms: frozenset[str]) -> str | None:
        if pattern := self._config.disabled_tools.which(forms):
            return f"disabled by {pattern!r} in [host] disabled_tools ({self._config.source('host.disabled_tools')})"
        if reason := self._why_filtered(plugin, definition):
            return reason
        if definition.enabled is not None and not _is_enabled(definition.enabled, plugin.context.config):
            return f"switched off by the settings of {plugin.origin.name}"
        return None

    def _why_hidden(self, definition: ToolDefinition) -> str:
        if self._config.host.missing_secrets != "hide":
            return ""
        missing = [name for name in each_once(definition.requires_secrets) if not self.secrets.get(name)]
        return "; ".join(map(self.secrets.missing, missing))

    def _why_filtered(self, plugin: LoadedPlugin, definition: Definition) -> str | None:
        """Return the reason why the toolkit or the tags of an item disable it. Return None if they do not."""
        tags, host = definition.tags, self._config.host
        if definition.toolkit is not None and host.disabled_toolkits:
            origin, patterns = plugin.origin, self._config.disabled_toolkits
            if pattern := patterns.which_plugin(definition.toolkit.name, origin.distribution):
                source = self._config.source("host.disabled_toolkits")
                return f"its toolkit is disabled by {pattern!r} in [host] disabled_toolkits ({source})"
        self.known_tags.update(tags)
        if pattern := matching_pattern(host.disabled_tags, tags):
            return f"disabled by {pattern!r} in [host] disabled_tags ({self._config.source('host.disabled_tags')})"
        if host.enabled_tags and matching_pattern(host.enabled_tags, tags) is None:
            return f"it has no tag of [host] enabled_tags ({self._config.source('host.enabled_tags')})"
        return None

    def _ungranted(self, plugin: LoadedPlugin, definition: ToolDefinition) -> str:
        """Return the reason not to serve a tool whose secrets or token are not granted, or ""."""
        if not self._config.host.toolkits:
            return ""
        sources = [source for _, source in contributions_of(self._plugins, register_token_sources)]
        owner = definition.toolkit.name if definition.toolkit else plugin.origin
        names, required = each_once(definition.requires_secrets), definition.requires_auth
        return refusal_reason(self._config, owner, names, required, sources, self.secrets)


def _is_enabled(enabled: Callable[[Any], bool], config: Any) -> bool:
    try:
        return bool(attempt(enabled, config))
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"its `enabled` function raised {error}") from error


def secret_stores(config: HostConfig, plugins: Sequence[LoadedPlugin]) -> Iterator[tuple[Origin, SecretStore]]:
    """Yield the secret stores in order. The plugins that `[host] secret_stores` lists come first."""
    order = {name: place for place, name in enumerate(config.host.secret_stores)}
    for plugin in sorted(plugins, key=lambda plugin: order.get(plugin.origin.name, len(order))):
        for store in plugin.contributed(register_secret_stores):
            yield plugin.origin, store
