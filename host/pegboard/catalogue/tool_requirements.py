"""The requirements of a tool, with this host's values for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pegboard.authorization.providers import Providers, missing_token
from pegboard.config import HostConfig
from pegboard.context.requirements import Requirements
from pegboard.hookspecs import register_auth_providers, register_token_sources
from pegboard.loading.plugins import LoadedPlugin, PluginChoice, contributions_of
from pegboard.plugin.definitions import ToolDefinition
from pegboard.plugin.origin import Origin
from pegboard.secrets.secret_lookup import SecretStores
from pegboard.types.authorization import AuthProvider, ToolAuthorization, ToolRequirements

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken, Providers


class BoundRequirements(NamedTuple):
    """The requirements of one tool.

    Attributes:
        declared: the requirements for lists; None for none.
        checked: the requirements that the host checks before each call, with its values; None for none.
        provider: the provider of the required token; None for none.
        missing_token: the required token if the host neither has it nor can obtain it.
    """

    declared: ToolRequirements | None = None
    checked: Requirements | None = None
    provider: AuthProvider | None = None
    missing_token: MissingToken | None = None


NO_REQUIREMENTS = BoundRequirements()


class RequirementBinder:
    """Finds the host's values for the requirements of tools.

    Args:
        config: the user and the metadata.
        plugins: the loaded plugins, which describe providers and have tokens.
        choices: all installed plugins and whether each is enabled.
        secrets: the secret stores.
        report: called with a plugin and the problem of its contribution.
    """

    def __init__(
        self,
        config: HostConfig,
        plugins: Sequence[LoadedPlugin],
        choices: Sequence[PluginChoice],
        secrets: SecretStores,
        report: Callable[[Origin, str], None],
    ) -> None:
        self._config = config
        self._plugins = plugins
        self._choices = choices
        self._secrets = secrets
        self._report = report
        self._providers: Providers | None = None

    def bind(self, definition: ToolDefinition) -> BoundRequirements:
        """Return the requirements of a definition.

        Raises:
            ToolDefinitionError: no enabled plugin describes the provider of its token.
        """
        required, scopes = definition.requires_auth, definition.scopes
        if required is None and not (scopes or definition.requires_secrets or definition.requires_metadata):
            return NO_REQUIREMENTS
        declared = ToolRequirements(
            required,
            tuple(scopes),
            tuple(each_once(definition.requires_secrets)),
            tuple(each_once(map(str.lower, definition.requires_metadata))),
        )
        provider, token = (None, None) if required is None else self._token(required)
        secrets = {name: self._secrets.get(name) for name in declared.secrets}
        missing = tuple(name for name, value in secrets.items() if not value)
        hint, needs = ("", missing) if token is None else (token.hint, each_once((*missing, token.name)))
        checked = Requirements(secrets, required, frozenset(scopes), self._metadata(definition), hint, tuple(needs))
        return BoundRequirements(declared, checked, provider, token)

    def _metadata(self, definition: ToolDefinition) -> Mapping[str, str | None]:
        """Return the host's values for the metadata that a tool requires. Keys are in lower case."""
        if not definition.requires_metadata:
            return {}
        host = self._config.host
        metadata = {"user_id": host.user} | {key.lower(): value for key, value in host.metadata.items()}
        return {key: metadata.get(key) for key in map(str.lower, definition.requires_metadata)}

    def _token(self, required: ToolAuthorization) -> tuple[AuthProvider, MissingToken | None]:
        """Return the provider of a token, and the token if the host does not have it."""
        if self._providers is None:
            owned = contributions_of(self._plugins, register_auth_providers)
            described = ((plugin.origin, provider) for plugin, provider in owned)
            disabled = [choice.origin for choice in self._choices if not choice.on]
            self._providers = Providers(described, disabled, self._report)
        sources = [source for _, source in contributions_of(self._plugins, register_token_sources)]
        return self._providers.find(required), missing_token(required, sources, self._secrets)


def each_once(names: Iterable[str]) -> list[str]:
    """Return the names without duplicates. Ignore case and keep the first spelling."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(name.casefold(), name)
    return list(spelt.values())
