"""The auth providers that plugins describe, and hints about tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pegboard.config import HostConfig
from pegboard.errors import ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.names import did_you_mean
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import TokenSource
from pegboard.secrets.secret_lookup import SecretStores, is_granted, refusal
from pegboard.types.authorization import AuthProvider, ToolAuthorization


class MissingToken(NamedTuple):
    """A token that no secret of the host contains.

    Attributes:
        provider: the provider, or the id of the requirement.
        name: the secrets that would hold it; "a token of ..." if no source supplies it; "" if a source may have it.
        hint: advice on setting it.
    """

    provider: str
    name: str
    hint: str


def missing_token(
    required: ToolAuthorization, sources: Sequence[TokenSource], secrets: SecretStores
) -> MissingToken | None:
    """Return the token that a tool requires, or None if one of the secrets that sources name is set.

    Args:
        required: the authorization that the tool requires.
        sources: all token sources.
        secrets: the secret stores, used by some sources.
    """
    given = [_secret_of(source, required, secrets.is_reserved) for source in sources]
    names = list(dict.fromkeys(filter(None, given)))
    if any(map(secrets.get, names)):
        return None
    if not names and None not in given:
        return MissingToken(
            required.name, f"a token of {required.name}", "no plugin that supplies such tokens runs: enable one"
        )
    name = "" if None in given else " or ".join(names)
    return MissingToken(required.name, name, "; ".join(map(secrets.missing, names)))


def token_secrets(
    required: ToolAuthorization, sources: Iterable[TokenSource], is_reserved: Callable[[str], bool]
) -> list[str]:
    """Return the names of the secrets that token sources read for a token."""
    return list(dict.fromkeys(filter(None, (_secret_of(source, required, is_reserved) for source in sources))))


def refusal_reason(
    config: HostConfig,
    owner: Origin | str,
    names: Iterable[str],
    required: ToolAuthorization | None,
    sources: Sequence[TokenSource],
    secrets: SecretStores,
) -> str:
    """Return the reason why the secrets or the token of a tool are not granted, or "" if they are granted.

    Args:
        config: the grants.
        owner: the plugin, or the toolkit that the definition names.
        names: the secrets that the tool requires.
        required: the authorization that the tool requires, or None.
        sources: all token sources.
        secrets: the secret stores, used by some sources.
    """
    read = () if required is None else token_secrets(required, sources, secrets.is_reserved)
    wanted = (*names, *filter(secrets.get, read))
    if refused := [name for name in wanted if not is_granted(config, owner, name)]:
        what = f"the secret {refused[0]}" if len(refused) == 1 else f"the secrets {', '.join(refused)}"
        return refusal(config, owner, what, "secrets")
    if required is not None and not is_granted(config, owner, required.name, "providers"):
        return refusal(config, owner, f"a token of {required.name}", "providers")
    return ""


def _secret_of(source: TokenSource, required: ToolAuthorization, is_reserved: Callable[[str], bool]) -> str | None:
    """Return the name of the secret that a source reads for a token.

    Return "" if the source does not supply tokens of the provider, and None if it may have the token in another way.
    """
    try:
        name = attempt(source.secret, required)
    except ToolDefinitionError:
        return None
    return name if isinstance(name, str) and not is_reserved(name) else None


class Providers:
    """The auth providers that running plugins describe.

    Args:
        described: the described providers, with their plugins.
        disabled: the installed plugins that do not run.
        report: called with a plugin and the problem of its description.
    """

    def __init__(
        self,
        described: Iterable[tuple[Origin, AuthProvider]],
        disabled: Sequence[Origin],
        report: Callable[[Origin, str], None],
    ) -> None:
        self._disabled = disabled
        claims: dict[str | None, list[tuple[Origin, AuthProvider]]] = {}
        for origin, provider in described:
            claims.setdefault(provider.id, []).append((origin, provider))
        for name, owned in claims.items():
            if len(owned) > 1:
                owners = " and ".join(dict.fromkeys(str(origin) for origin, _ in owned))
                report(owned[0][0], f"the auth provider {name!r} is described by {owners}: disable all but one")
        self._known = {name: owned[0][1] for name, owned in claims.items() if len(owned) == 1}

    def find(self, required: ToolAuthorization) -> AuthProvider:
        """Return the description of the provider that a tool requires.

        Raises:
            ToolDefinitionError: no running plugin describes it.
        """
        name = required.provider_id
        if name in self._known:
            return self._known[name]
        message = f"it requires authorization by {name or required.provider.title!r}, which no running plugin describes"
        if plugin := self._off(type(required)):
            raise ToolDefinitionError(f"{message}: enable the plugin {plugin!r}")
        raise ToolDefinitionError(message + did_you_mean(name or "", filter(None, self._known)))

    def _off(self, provider: type[ToolAuthorization]) -> str | None:
        """Return the name of the disabled plugin that defines a provider's class, or None."""
        module = provider.__module__
        return next((origin.name for origin in self._disabled if _brings(origin, module)), None)


def _brings(origin: Origin, module: str) -> bool:
    own = origin.target.partition(":")[0]
    return origin.kind == "plugin" and (module == own or module.startswith(f"{own}."))
