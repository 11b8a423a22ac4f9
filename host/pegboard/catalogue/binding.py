"""The binding of one definition to a host: its name, its secrets, and whether it is served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pegboard.authorization.providers import Providers, refusal_reason
from pegboard.calls.served_item import Function, ServedItem, Unserved
from pegboard.catalogue.extensions import ContributionCollector, default_mime_type, describe_item, without_unused
from pegboard.catalogue.shown_texts import hidden_text_allowed
from pegboard.catalogue.tool_compiler import compile_tool, own_name, warning_about
from pegboard.catalogue.tool_requirements import (
    NOTHING_REQUIRED,
    BoundRequirements,
    bound_requirements,
    described_requirements,
    each_once,
)
from pegboard.config import ConfigProblem, HostConfig
from pegboard.context.bound_function import PluginData
from pegboard.errors import ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.hookspecs import (
    register_auth_providers,
    register_definition_checks,
    register_error_adapters,
    register_protocols,
    register_secret_stores,
    register_token_sources,
)
from pegboard.loading.plugin_facts import reserved_secrets
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, PluginChoice, contributions_of
from pegboard.middleware.gate import listed_name
from pegboard.names import matching_pattern, spellings, wire_name, without_toolkit
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.plugin.methods import Contributions
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore
from pegboard.schemas.signature import Signature
from pegboard.secrets.redaction import Redactor
from pegboard.secrets.secret_lookup import SecretStores
from pegboard.types.authorization import AuthProvider
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import ItemKind, Resource, Tool, ToolkitInfo

if TYPE_CHECKING:
    from pegboard.catalogue.tool_settings import ChangedTools

BindResult: TypeAlias = ServedItem | Unserved
Definition: TypeAlias = ToolDefinition | ResourceDefinition | PromptDefinition
Edits: TypeAlias = dict[LoadedPlugin, dict[tuple[ItemKind, str], Definition | None]]
"""The definitions that plugins have added or updated at run time, by kind and name. None for a removed definition."""


class Binder:
    """Binds the definitions of one host.

    Args:
        config: names, disabled tools, and the policy for missing secrets.
        plugins: the loaded plugins, sorted by name.
        choices: all installed plugins and whether each is enabled.
        redactor: masks secrets.

    Attributes:
        config, plugins, choices, redactor: the arguments.
        adapters: the error adapters of plugins, in order, for functions that have no adapters of their own.
        secrets: the secret stores.
        token_sources: the token sources of plugins.
        known_tags: the tags of all items, including unserved items.
        changed_tools: the operator's changes of tools, or None for none.
        edits: the changes that plugins have made at run time, which a reload keeps.
        accepts_hidden_text: True to accept invisible characters. The definitions must not be served to clients.
        problems: problems that do not belong to a single definition. The reader must clear the list.
    """

    def __init__(
        self,
        config: HostConfig,
        plugins: Sequence[LoadedPlugin],
        choices: Sequence[PluginChoice],
        redactor: Redactor,
    ) -> None:
        self.known_tags: set[str] = set()
        self.problems: list[LoadProblem] = []
        self.edits: Edits = {}
        self.accepts_hidden_text = False
        self.config = config
        self.plugins = plugins
        self.redactor = redactor
        settings = [plugin.context.config for plugin in plugins]
        stores = secret_stores(config, plugins)
        self.secrets = SecretStores(stores, settings, self.report, self.redactor, reserved_secrets())
        self._additions = ContributionCollector(plugins, self.report).served()
        self._checks = tuple(contributions_of(plugins, register_definition_checks))
        self._tool_checks = [protocol.check_tool for _, protocol in contributions_of(plugins, register_protocols)]
        self._users: set[str] = set()
        self.changed_tools: ChangedTools | None = None
        if config.host.tools:
            from pegboard.catalogue.tool_settings import ChangedTools

            self.changed_tools = ChangedTools(config)
        self.choices = choices
        self.token_sources = [source for _, source in contributions_of(plugins, register_token_sources)]
        ordered = listed_first(plugins, config.host.error_adapters)
        adapters = [adapter for _, adapter in contributions_of(ordered, register_error_adapters)]
        self.adapters = tuple(sorted(adapters, key=lambda adapter: adapter.fallback))

    def bind(self, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]) -> BindResult:
        """Bind a plugin's definition to this host and return the result.

        Args:
            plugin: the plugin.
            definition: the definition.
            resources: the resources that tools may refer to.

        Raises:
            ToolDefinitionError: the definition is invalid.
        """
        with hidden_text_allowed(self.accepts_hidden_text):
            result = attempt(self._bound, plugin, definition, resources)
        if not self._checks:
            return result
        from pegboard.catalogue.item_checks import checked  # most hosts have no checks

        return checked(result, self._checks)

    def _bound(self, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]) -> BindResult:
        if definition.raw is not None:
            from pegboard.catalogue.raw_definitions import late_tool, with_raw_texts

            if plugin.is_late and isinstance(definition, ToolDefinition):
                return self._late(plugin, definition, late_tool)
            definition = with_raw_texts(definition)
        if isinstance(definition, ToolDefinition):
            return self._tool(plugin, definition, resources)
        return self._content(plugin, definition)

    def named(self, plugin: LoadedPlugin, definition: ToolDefinition) -> ToolName | None:
        """Return the names of a definition that may be invalid. Return None if it has none."""
        try:
            return attempt(self._named, plugin, definition)
        except ToolDefinitionError:
            return None

    def check_secrets(self, bound: ServedItem) -> None:
        """Raise an error if a definition would show a declared secret to clients.

        Raises:
            ToolDefinitionError: the definition shows a secret.
        """
        if secrets := self.secrets.known:
            from pegboard.secrets.leaks import check_secrets

            check_secrets(bound.item, secrets)

    def may_show_secrets(self, definitions: Iterable[ServedItem]) -> bool:
        """Return False if `check_secrets` accepts all of these definitions."""
        if not (secrets := self.secrets.known):
            return False
        from pegboard.secrets.leaks import may_show

        return may_show((definition.item for definition in definitions), secrets)

    @cached_property
    def providers(self) -> Providers:
        """The auth providers that plugins describe."""
        described = (
            (owner.origin, provider) for owner, provider in contributions_of(self.plugins, register_auth_providers)
        )
        return Providers(described, [choice.origin for choice in self.choices if not choice.on], self.report)

    def contributed(self) -> Contributions:
        """Return the protocol additions of plugins, without extensions that no definition uses."""
        return without_unused(self._additions, self._users)

    def report(self, origin: Origin, message: str) -> None:
        """Record a problem of a plugin."""
        self.problems.append(LoadProblem("assemble", message, origin))

    def _extension_meta(
        self,
        item: Tool | Resource,
        definition: ToolDefinition | ResourceDefinition,
        resources: Mapping[str, Resource] = EMPTY,
    ) -> dict[str, Any]:
        """Return the extensions' `_meta` entries of a tool or resource, and remember their extensions.

        Raises:
            ToolDefinitionError: an extension rejects the tool or resource.
        """
        meta, users = describe_item(item, definition.extensions, self._additions, resources)
        self._users |= users
        return meta

    def _tool(self, plugin: LoadedPlugin, definition: ToolDefinition, resources: Mapping[str, Resource]) -> BindResult:
        named = self._named(plugin, definition)
        if self.changed_tools is None:
            return self._compiled(plugin, definition, resources, named)

        def compiled(changed: ToolDefinition) -> BindResult:
            own = self._named(plugin, changed)
            return self._compiled(plugin, changed, resources, own._replace(forms=own.forms | named.forms))

        result = self.changed_tools.bound(
            definition, named.forms, _prefix(definition, named), partial(attempt, compiled)
        )
        if isinstance(result, ConfigProblem):
            self.problems.append(LoadProblem("config", f"{result}; the tool is not served"))
            return Unserved("tools", named.wire, plugin.origin.name, str(result), forms=named.forms)
        return result

    def _named(self, plugin: LoadedPlugin, definition: ToolDefinition) -> ToolName:
        toolkit, own = toolkit_of(plugin, definition), own_name(definition)
        return _named_in(toolkit, own, self._wire(toolkit, own), is_named=definition.toolkit is not None)

    def _wire(self, toolkit: ToolkitInfo, own: str) -> str:
        return wire_name(toolkit.name, own, self.config.host.tool_names, prefix=toolkit.prefix)

    def _late(
        self, plugin: LoadedPlugin, definition: ToolDefinition, listed: Callable[..., tuple[Tool, Signature]]
    ) -> BindResult:
        """Bind a tool of a toolkit that is imported later. It was checked before it was written."""
        toolkit, name = toolkit_of(plugin), str(definition.name)
        named = _named_in(toolkit, name, name, is_named=False)
        if withheld := self._withheld(plugin, definition, named):
            return withheld
        required = bound_requirements(definition, self)
        tool, signature = listed(definition._replace(name=named.last), name, toolkit, required.declared)
        function = Function(definition.function, "async")
        return self._served(plugin, "tools", tool, function, signature, required, named.forms)

    def _compiled(
        self, plugin: LoadedPlugin, definition: ToolDefinition, resources: Mapping[str, Resource], named: ToolName
    ) -> BindResult:
        """Bind a tool under its names."""
        if withheld := self._withheld(plugin, definition, named):
            return withheld
        host = self.config.host
        own = definition._replace(name=named.last)
        tool, signature, function = compile_tool(own, named.wire, named.toolkit, host.schema_references)
        required = bound_requirements(definition, self)
        meta = self._extension_meta(tool, definition, resources)
        if definition.requires_auth is not None or definition.scopes:
            meta |= described_requirements(definition)
        tool = tool._replace(meta={**(tool.meta or EMPTY), **meta} or tool.meta, requires=required.declared)
        for check in self._tool_checks:
            check(tool)
        timeout = host.tool_timeout if definition.timeout is None else definition.timeout
        return self._served(plugin, "tools", tool, function, signature, required, named.forms)._replace(
            adapters=self._adapters(definition, required.provider),
            timeout=definition.task_timeout if definition.task == "required" else timeout,
            task_timeout=definition.task_timeout,
            max_result_bytes=host.max_result_bytes if definition.max_result is None else definition.max_result,
            warning=warning_about(tool),
        )

    def _content(self, plugin: LoadedPlugin, definition: ResourceDefinition | PromptDefinition) -> BindResult:
        """Bind a resource, a template or a prompt."""
        toolkit, own_part = toolkit_of(plugin, definition), own_name(definition)
        kind: ItemKind = "resources" if isinstance(definition, ResourceDefinition) else "prompts"
        name = definition.uri if isinstance(definition, ResourceDefinition) else self._wire(toolkit, own_part)
        if reason := self._why_filtered(plugin, definition):
            return Unserved(kind, name, plugin.origin.name, reason)
        from pegboard.catalogue.content_compiler import compile_prompt, compile_resource  # many hosts serve only tools

        host = self.config.host
        limit: int | None = None
        if isinstance(definition, ResourceDefinition):
            if definition.mime_type is None:
                definition = definition._replace(mime_type=default_mime_type(str(name), self._additions))
            item, function, signature, own = compile_resource(definition, own_part, toolkit.name)
            meta = self._extension_meta(Resource(name, item.name, mime_type=item.mime_type), definition)
            item = item._replace(meta={**(item.meta or EMPTY), **meta}) if meta else item
            limit = definition.max_result
        else:
            item, function, signature, own = compile_prompt(definition, name, toolkit.name)
        return self._served(plugin, kind, item, function, signature)._replace(
            **own,
            adapters=self.adapters,
            timeout=host.tool_timeout,
            max_result_bytes=host.max_result_bytes if limit is None else limit,
        )

    def _served(
        self,
        plugin: LoadedPlugin,
        kind: ItemKind,
        item: Any,
        function: Function,
        signature: Signature,
        required: BoundRequirements = NOTHING_REQUIRED,
        forms: frozenset[str] = frozenset(),
    ) -> ServedItem:
        context = plugin.context
        owner = PluginData(context.config, plugin.state, self.config.host.user, context.catalogue)
        name = listed_name(item)
        checked, token = required.checked, required.missing_token
        return ServedItem(
            kind, name, item, function, signature, plugin.origin, owner, checked, missing_token=token, forms=forms
        )

    def _adapters(self, definition: ToolDefinition, provider: AuthProvider | None) -> tuple[ErrorAdapter, ...]:
        """Return the adapters of a tool, its provider and other plugins, in this order and without duplicates."""
        named = None if provider is None else provider.error_adapters
        plugins = [plugin for plugin in self.plugins if plugin.origin.name == named]
        theirs = [adapter for _, adapter in contributions_of(plugins, register_error_adapters)]
        return tuple({id(adapter): adapter for adapter in (*definition.adapters, *theirs, *self.adapters)}.values())

    def _withheld(self, plugin: LoadedPlugin, definition: ToolDefinition, named: ToolName) -> Unserved | None:
        """Return a tool that the operator has disabled or hidden, or to which the operator has not granted a right.

        Return None for other tools.
        """
        disabled = self._why_disabled(plugin, definition, named.forms)
        refusal = "" if disabled else self._ungranted(plugin, definition)
        reason = disabled or refusal or self._why_hidden(definition)
        if not reason:
            return None
        return Unserved("tools", named.wire, plugin.origin.name, reason, bool(refusal), named.forms)

    def _why_disabled(self, plugin: LoadedPlugin, definition: ToolDefinition, forms: frozenset[str]) -> str | None:
        if pattern := self.config.disabled_tools.which(forms):
            return f"disabled by {pattern!r} in [host] disabled_tools ({self.config.source('host.disabled_tools')})"
        if reason := self._why_filtered(plugin, definition):
            return reason
        if definition.enabled is not None and not _is_enabled(definition.enabled, plugin.context.config):
            return f"switched off by the settings of {plugin.origin.name}"
        return None

    def _why_hidden(self, definition: ToolDefinition) -> str:
        if self.config.host.missing_secrets != "hide":
            return ""
        missing = [name for name in each_once(definition.requires_secrets) if not self.secrets.get(name)]
        return "; ".join(map(self.secrets.missing, missing))

    def _why_filtered(self, plugin: LoadedPlugin, definition: Definition) -> str | None:
        """Return the reason why the toolkit or the tags of an item disable it. Return None if they do not."""
        tags, host = definition.tags, self.config.host
        if definition.toolkit is not None and host.disabled_toolkits:
            origin, patterns = plugin.origin, self.config.disabled_toolkits
            if pattern := patterns.which_plugin(definition.toolkit.name, origin.distribution):
                source = self.config.source("host.disabled_toolkits")
                return f"its toolkit is disabled by {pattern!r} in [host] disabled_toolkits ({source})"
        self.known_tags.update(tags)
        if pattern := matching_pattern(host.disabled_tags, tags):
            return f"disabled by {pattern!r} in [host] disabled_tags ({self.config.source('host.disabled_tags')})"
        if host.enabled_tags and matching_pattern(host.enabled_tags, tags) is None:
            return f"it has no tag of [host] enabled_tags ({self.config.source('host.enabled_tags')})"
        return None

    def _ungranted(self, plugin: LoadedPlugin, definition: ToolDefinition) -> str:
        """Return the reason not to serve a tool whose secrets or token are not granted, or ""."""
        if not self.config.host.toolkits:
            return ""
        owner = definition.toolkit.name if definition.toolkit else plugin.origin
        names, required = each_once(definition.requires_secrets), definition.requires_auth
        return refusal_reason(self.config, owner, names, required, self.token_sources, self.secrets)


def _is_enabled(enabled: Callable[[Any], bool], config: Any) -> bool:
    try:
        return bool(attempt(enabled, config))
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"its `enabled` function raised {error}") from error


def secret_stores(config: HostConfig, plugins: Sequence[LoadedPlugin]) -> Iterator[tuple[Origin, SecretStore]]:
    """Yield the secret stores in order. The plugins that `[host] secret_stores` lists come first."""
    owned = contributions_of(listed_first(plugins, config.host.secret_stores), register_secret_stores)
    return ((plugin.origin, store) for plugin, store in owned)


def listed_first(plugins: Iterable[LoadedPlugin], names: Sequence[str]) -> list[LoadedPlugin]:
    """Return the plugins in the order of a list of names, then the others."""
    order = {name: place for place, name in enumerate(names)}
    return sorted(plugins, key=lambda plugin: order.get(plugin.origin.name, len(order)))


# --- the toolkit and the names of a definition


class ToolName(NamedTuple):
    """The names of a tool.

    Attributes:
        toolkit: its toolkit.
        last: the last part of its name.
        wire: its name on the wire.
        forms: all spellings of its name, with and without a prefix.
    """

    toolkit: ToolkitInfo
    last: str
    wire: str
    forms: frozenset[str]


def _named_in(toolkit: ToolkitInfo, own: str, wire: str, *, is_named: bool) -> ToolName:
    """Return the names of a tool. With `is_named`, the name of its toolkit selects it even without a prefix."""
    last = own if toolkit.prefix else without_toolkit(toolkit.name, own)
    if is_named:
        forms = spellings(toolkit.name, last) | (frozenset() if toolkit.prefix else spellings("", own))
    else:
        forms = spellings(toolkit.name if toolkit.prefix or last != own else "", last)
    return ToolName(toolkit, last, wire, forms)


def _prefix(definition: ToolDefinition, named: ToolName) -> str:
    """Return the beginning of a name that its author has written before the last part."""
    own, at_server = own_name(definition), str((definition.raw or EMPTY).get("name", ""))
    return own.removesuffix(at_server if at_server and own.endswith(at_server) else named.last)


def toolkit_of(plugin: LoadedPlugin, definition: Definition | None = None) -> ToolkitInfo:
    """Return the toolkit of a plugin's definition: its plugin, or the toolkit that the definition names.

    Raises:
        ToolDefinitionError: the definition names an invalid toolkit.
    """
    named: Any = None if definition is None else definition.toolkit
    if named is None:
        prefix = bool(getattr(plugin.instance, "prefix", False))
        return ToolkitInfo(plugin.origin.name, plugin.description, plugin.version, prefix)
    name: Any = getattr(named, "name", None)
    if not isinstance(named, ToolkitInfo) or not isinstance(name, str) or not name.strip():
        raise ToolDefinitionError(f'its toolkit must be ToolkitInfo(name="..."), not {named!r}')
    return ToolkitInfo(*named)
