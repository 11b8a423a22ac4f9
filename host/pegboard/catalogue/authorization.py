"""What tools require of their callers and of providers of tokens, checked and described. It asks nobody for a token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pegboard.bearer import is_scope
from pegboard.catalogue.definitions import attempt
from pegboard.catalogue.secret_stores import SecretStores, is_reserved
from pegboard.contracts import AuthProvider, TokenSource, ToolAuthorization, ToolDefinition
from pegboard.errors import ToolDefinitionError
from pegboard.loading.plugins import Choice, Loaded, Origin
from pegboard.names import nearest

REQUIREMENTS = "pegboard/requirements"
"""The key of a tool's `_meta` under which clients find what it requires."""

Report = Callable[[Origin, str], None]


def check_authorization(definition: ToolDefinition) -> None:
    """Find what is wrong with `requires_auth` and `scopes`, whatever plugins run.

    Raises:
        ToolDefinitionError: it is no provider, or a scope is none.
    """
    required: Any = definition.requires_auth
    if isinstance(required, type) and issubclass(required, ToolAuthorization):
        name = required.__name__
        raise ToolDefinitionError(f"its requires_auth is the class {name}; give an object of it, such as {name}()")
    if required is not None:
        if not _is_of_provider(required):
            kind = f"{required!r}, not an object of a provider's class, such as GitHub(scopes=[...])"
            raise ToolDefinitionError(f"its requires_auth is {kind}")
        whose = f"its requires_auth, {type(required).__name__},"
        if not isinstance(required.id, str | None) or not required.name.strip():
            raise ToolDefinitionError(f"{whose} has no id; give it the one under which its tokens are kept")
        _check_scopes(required.scopes, f"{whose} has")
    _check_scopes(definition.scopes, "it has")


def _is_of_provider(required: object) -> bool:
    return isinstance(required, ToolAuthorization) and hasattr(required, "provider")


def _check_scopes(scopes: Iterable[object], whose: str) -> None:
    for scope in scopes:
        if not is_scope(scope):
            advice = "; write each by itself" if isinstance(scope, str) and len(scope.split()) > 1 else ""
            raise ToolDefinitionError(f"{whose} the scope {scope!r}, which is none (RFC 6749){advice}")


def described_requirements(definition: ToolDefinition) -> dict[str, Any]:
    """What clients are told of a tool's requirements, for its `_meta`: nothing of the operator's secrets."""
    told: dict[str, Any] = {}
    if (required := definition.requires_auth) is not None:
        whose = {"provider": required.provider_id, "type": required.provider_type, "id": required.id}
        told["authorization"] = {name: value for name, value in whose.items() if value is not None}
        told["authorization"]["scopes"] = list(required.scopes)
    if definition.scopes:
        told["scopes"] = list(definition.scopes)
    return {REQUIREMENTS: told} if told else {}


def token_hint(required: ToolAuthorization, sources: Sequence[TokenSource], secrets: SecretStores) -> str:
    """How the operator gives a token to this machine's user, who has none; empty where somebody has it, or may.

    Args:
        required: what a tool requires.
        sources: all that are asked for tokens.
        secrets: the stores in which some of them look.
    """
    names = [_secret_of(source, required) for source in sources]
    if not all(names) or any(map(secrets.get, names)):
        return ""
    return "; ".join(map(secrets.missing, dict.fromkeys(names)))


def token_secrets(required: ToolAuthorization, sources: Iterable[TokenSource]) -> list[str]:
    """Return the names of the secrets in which sources look for a token that a tool requires."""
    return list(dict.fromkeys(filter(None, (_secret_of(source, required) for source in sources))))


def _secret_of(source: TokenSource, required: ToolAuthorization) -> str:
    """The name of the secret in which a source looks for a token; empty where it looks elsewhere."""
    tell = getattr(source, "secret", None)
    try:
        name = attempt(tell, required) if callable(tell) else None
    except ToolDefinitionError:
        return ""
    return name if isinstance(name, str) and not is_reserved(name) else ""


class Providers:
    """The providers that running plugins describe.

    Args:
        plugins: those that run.
        choices: of all that is installed, what runs.
        report: told of descriptions that do not hold.
    """

    def __init__(self, plugins: Sequence[Loaded], choices: Sequence[Choice], report: Report) -> None:
        self._choices = choices
        claims: dict[str | None, list[tuple[Origin, AuthProvider]]] = {}
        for plugin in plugins:
            for provider in plugin.auth_providers:
                claims.setdefault(provider.id, []).append((plugin.origin, provider))
        for name, owned in claims.items():
            if len(owned) > 1:
                owners = " and ".join(dict.fromkeys(str(origin) for origin, _ in owned))
                report(owned[0][0], f"the auth provider {name!r} is described by {owners}; neither holds")
        self._known = {name: owned[0][1] for name, owned in claims.items() if len(owned) == 1}

    def find(self, required: ToolAuthorization) -> AuthProvider:
        """The description of what a tool requires.

        Raises:
            ToolDefinitionError: no plugin that runs describes it.
        """
        name = required.provider_id
        if name in self._known:
            return self._known[name]
        message = (
            f"it requires authorization by {name or required.provider.title!r}, which no plugin that runs describes"
        )
        if plugin := self._off(type(required)):
            raise ToolDefinitionError(f"{message}; turn on the plugin {plugin!r}")
        close = nearest(name or "", [one for one in self._known if one])
        raise ToolDefinitionError(message + (f"; did you mean {close!r}?" if close else ""))

    def _off(self, provider: type[ToolAuthorization]) -> str | None:
        """The plugin that does not run and brings the class of a provider."""
        module = provider.__module__
        return next((choice.origin.name for choice in self._choices if not choice.on and _brings(choice, module)), None)


def _brings(choice: Choice, module: str) -> bool:
    own = choice.origin.target.partition(":")[0]
    return choice.origin.kind == "plugin" and (module == own or module.startswith(f"{own}."))
